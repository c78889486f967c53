/* tile and upsample repeat: all of an axis, or each of its elements. */
#include "ops/operator.h"

enum { REPEATS, LAYOUT };

static dml_code shape(dml_program *program, dml_status *status)
{
    dml_ints *repeats = &program->args[REPEATS];
    dml_tensor *result = program->results;
    if (program->op == &dml_op_upsample && dml_spread_factors(repeats, &program->args[LAYOUT], result->rank, status))
        return status->code;
    for (int k = 0; k < result->rank; k++)
        if (dml_multiply_axis(repeats->name, repeats->value[k], k, &result->shape[k], status))
            return status->code;
    return DML_OK;
}

/* Two axes each: the copies, which all read the same, of all of the input's axis or of each of its elements; and that axis. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_tensor *input = program->inputs, *result = program->results;
    const bool whole = program->op == &dml_op_tile;
    for (int k = 0; k < input->rank; k++) {
        int64_t copies = program->args[REPEATS].value[k], extent = input->shape[k], stride = result->strides[k];
        dml_plan_add(&step->plan, copies, 0, whole ? extent * stride : stride);
        dml_plan_add(&step->plan, extent, input->strides[k], whole ? stride : copies * stride);
    }
}

/* As numpy.tile has it. */
const dml_operator dml_op_tile = {
    .input = "input",
    .parameters = {[REPEATS] = {.name = "repeats", .kind = DML_ARG_INTS, .natural = true}},
    .shape = shape,
    .make = make,
};

/* Nearest neighbour by whole factors. */
const dml_operator dml_op_upsample = {
    .input = "input",
    .parameters = {[REPEATS] = {.name = "scale_size", .kind = DML_ARG_INT_OR_INTS},
                   [LAYOUT] = {.name = "layout", .kind = DML_ARG_LAYOUT, .enumerators = dml_layouts}},
    .shape = shape,
    .make = make,
};
