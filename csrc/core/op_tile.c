#include "core/operator.h"

enum { REPEATS };

static dml_code shape(dml_program *program, dml_status *status)
{
    const dml_ints *repeats = &program->args[REPEATS];
    dml_tensor *result = program->results;
    for (int k = 0; k < result->rank; k++)
        if (dml_multiply_axis(repeats->name, repeats->value[k], k, &result->shape[k], status))
            return status->code;
    return DML_OK;
}

/* Two axes each: the copies, which all read the same, and what is in one. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_tensor *input = program->inputs, *result = program->results;
    for (int k = 0; k < input->rank; k++) {
        dml_plan_add(&step->plan, program->args[REPEATS].value[k], 0, input->shape[k] * result->strides[k]);
        dml_plan_add(&step->plan, input->shape[k], input->strides[k], result->strides[k]);
    }
}

/* As numpy.tile has it. */
const dml_operator dml_op_tile = {
    .input = "input",
    .parameters = {[REPEATS] = {.name = "repeats", .kind = DML_ARG_INTS, .natural = true}},
    .shape = shape,
    .make = make,
};
