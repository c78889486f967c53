#include "ops/operator.h"

typedef long long ll;

enum { OUTPUT_SHAPE, OFFSETS, SIZES, STRIDES };

static dml_code shape(dml_program *program, dml_status *status)
{
    const dml_tensor *gradient = program->inputs;
    const dml_ints *args = program->args, *output_shape = &args[OUTPUT_SHAPE];
    dml_tensor *result = program->results;
    int64_t reachable[DML_MAX_RANK];
    for (int k = 0; k < gradient->rank; k++)
        result->shape[k] = output_shape->value[k];
    if (dml_check_slice(&args[OFFSETS], result, "the result", reachable, status))
        return status->code;
    for (int k = 0; k < gradient->rank; k++) {
        int64_t size = gradient->shape[k], least = reachable[k] > 0;
        if (size < least || size > reachable[k])
            return dml_fail(
                status, DML_VALUE_ERROR,
                "gradient must have a size in [%lld, %lld] on axis %d (sizes[%d] is %lld, strides[%d] is %lld); got %lld",
                (ll)least, (ll)reachable[k], k, k, (ll)args[SIZES].value[k], k,
                (ll)(args[STRIDES].given ? args[STRIDES].value[k] : 1), (ll)size);
    }
    program->count = dml_inset_steps(result);
    return DML_OK;
}

static void make(const dml_program *program, int64_t index, dml_step *step)
{
    dml_index_map inset[DML_MAX_RANK];
    for (int k = 0; k < program->results->rank; k++)
        inset[k] = dml_slice_map(&program->args[OFFSETS], k, program->inputs->shape[k]);
    dml_inset_step(program, inset, index, step);
}

/* Zeros, with the gradient where slice would have read. */
const dml_operator dml_op_slice_grad = {
    .input = "gradient",
    .fills = true,
    .parameters = {[OUTPUT_SHAPE] = {.name = "output_shape", .kind = DML_ARG_INTS, .natural = true},
                   [OFFSETS] = {.name = "offsets", .kind = DML_ARG_INTS},
                   [SIZES] = {.name = "sizes", .kind = DML_ARG_INTS},
                   [STRIDES] = {.name = "strides", .kind = DML_ARG_INTS, .optional = true}},
    .shape = shape,
    .make = make,
};
