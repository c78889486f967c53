#include "ops/operator.h"

typedef long long ll;

enum { AXIS, SIZES };

static dml_code shape(dml_program *program, dml_status *status)
{
    int axis = (int)program->args[AXIS].value[0];
    int64_t all = program->inputs->shape[axis], sum = 0;
    for (int64_t i = 0; i < program->result_count; i++) {
        int64_t size = program->parts[i];
        if (size < 0 || size > all - sum)
            return dml_fail(
                status, DML_VALUE_ERROR,
                "output_axis_sizes[%lld] must be in [0, %lld], what is left of input's axis %d of size %lld; got %lld", (ll)i,
                (ll)(all - sum), axis, (ll)all, (ll)size);
        program->results[i].shape[axis] = size;
        program->parts[i] = sum;
        sum += size;
    }
    if (sum != all)
        return dml_fail(status, DML_VALUE_ERROR,
                        "output_axis_sizes must add up to %lld, the size of input's axis %d; their sum is %lld", (ll)all, axis,
                        (ll)sum);
    program->count = program->result_count;
    return DML_OK;
}

/* One step for each result. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_tensor *input = program->inputs, *result = &program->results[index];
    step->dst = index;
    step->plan.src_offset = program->parts[index] * input->strides[program->args[AXIS].value[0]];
    dml_plan_add_axes(&step->plan, result, input, result);
}

/* Consecutive parts of an array. */
const dml_operator dml_op_split = {
    .input = "input",
    .parameters = {[AXIS] = {.name = "axis", .kind = DML_ARG_AXIS},
                   [SIZES] = {.name = "output_axis_sizes", .kind = DML_ARG_PARTS}},
    .shape = shape,
    .make = make,
};
