#include "core/operator.h"

enum { SCALE_SIZE, LAYOUT };

static dml_code shape(dml_program *program, dml_status *status)
{
    dml_ints *scale = &program->args[SCALE_SIZE];
    dml_tensor *result = program->results;
    if (dml_spread_factors(scale, &program->args[LAYOUT], result->rank, status))
        return status->code;
    for (int k = 0; k < result->rank; k++)
        if (dml_multiply_axis(scale->name, scale->value[k], k, &result->shape[k], status))
            return status->code;
    return DML_OK;
}

/* Two axes each: the input's, and the copies of each of its elements. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_tensor *input = program->inputs, *result = program->results;
    for (int k = 0; k < input->rank; k++) {
        int64_t scale = program->args[SCALE_SIZE].value[k];
        dml_plan_add(&step->plan, input->shape[k], input->strides[k], scale * result->strides[k]);
        dml_plan_add(&step->plan, scale, 0, result->strides[k]);
    }
}

/* Nearest neighbour by whole factors. */
const dml_operator dml_op_upsample = {
    .input = "input",
    .parameters = {[SCALE_SIZE] = {.name = "scale_size", .kind = DML_ARG_INT_OR_INTS},
                   [LAYOUT] = {.name = "layout", .kind = DML_ARG_LAYOUT, .words = dml_layouts}},
    .shape = shape,
    .make = make,
};
