#include "ops/operator.h"

#include <stdio.h>

enum { AXES };

static dml_code shape(dml_program *program, dml_status *status)
{
    bool taken[DML_MAX_RANK] = {false};
    const dml_tensor *input = program->inputs;
    dml_ints *axes = &program->args[AXES];
    for (int k = 0; k < input->rank; k++) {
        int64_t *axis = &axes->value[k];
        if (!axes->given)
            *axis = input->rank - 1 - k;
        if (dml_normalize_axis("axes", axis, input->rank, status)) {
            char name[32];
            snprintf(name, sizeof name, "axes[%d]", k);
            return dml_fail_axis(status, name, *axis, input->rank);
        }
        if (taken[*axis])
            return dml_fail(status, DML_VALUE_ERROR, "axes must name each axis of input once; axes[%d] is axis %d again", k,
                            (int)*axis);
        taken[*axis] = true;
        program->results->shape[k] = input->shape[*axis];
    }
    return DML_OK;
}

static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_tensor *input = program->inputs, *result = program->results;
    for (int k = 0; k < input->rank; k++)
        dml_plan_add(&step->plan, result->shape[k], input->strides[program->args[AXES].value[k]], result->strides[k]);
}

/* As numpy.transpose has it, copied; without axes, they are in reverse order. */
const dml_operator dml_op_transpose = {
    .input = "input",
    .parameters = {[AXES] = {.name = "axes", .kind = DML_ARG_INTS, .optional = true}},
    .shape = shape,
    .make = make,
};
