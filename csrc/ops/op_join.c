#include "ops/operator.h"

typedef long long ll;

enum { AXIS };

static dml_code check_input(const dml_tensor *inputs, int64_t i, int axis, dml_status *status)
{
    const dml_tensor *first = &inputs[0], *input = &inputs[i];
    if (input->rank != first->rank)
        return dml_fail(status, DML_VALUE_ERROR, "inputs[%lld] must have rank %d, as inputs[0] has; got rank %d", (ll)i,
                        first->rank, input->rank);
    for (int k = 0; k < first->rank; k++)
        if (k != axis && input->shape[k] != first->shape[k])
            return dml_fail(status, DML_VALUE_ERROR, "inputs[%lld] must have size %lld on axis %d, as inputs[0] has; got %lld",
                            (ll)i, (ll)first->shape[k], k, (ll)input->shape[k]);
    return DML_OK;
}

static dml_code shape(dml_program *program, dml_status *status)
{
    int axis = (int)program->args[AXIS].value[0];
    int64_t sum = 0;
    for (int64_t i = 0; i < program->input_count; i++) {
        if (check_input(program->inputs, i, axis, status))
            return status->code;
        int64_t size = program->inputs[i].shape[axis];
        if (size > INT64_MAX - sum)
            return dml_fail(status, DML_VALUE_ERROR, "inputs are too large: the sum of their sizes on axis %d overflows", axis);
        program->parts[i] = sum;
        sum += size;
    }
    program->results->shape[axis] = sum;
    program->count = program->input_count;
    return DML_OK;
}

/* One step for each input. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_tensor *input = &program->inputs[index], *result = program->results;
    step->src = index;
    step->plan.dst_offset = program->parts[index] * result->strides[program->args[AXIS].value[0]];
    dml_plan_add_axes(&step->plan, input, input, result);
}

/* As numpy.concatenate has it. */
const dml_operator dml_op_join = {
    .input = "inputs",
    .several = true,
    .parameters = {[AXIS] = {.name = "axis", .kind = DML_ARG_AXIS}},
    .shape = shape,
    .make = make,
};
