#include "ops/operator.h"

typedef long long ll;

enum { LENGTHS, AXIS, BATCH_AXIS };

static dml_code check_batch(const dml_ints *lengths, int axis, int batch_axis, const dml_tensor *input, dml_status *status)
{
    int64_t batches = input->shape[batch_axis];
    if (batch_axis == axis)
        return dml_fail(status, DML_VALUE_ERROR, "batch_axis must differ from axis; both are %d", axis);
    if (lengths->count != 1)
        return dml_fail(status, DML_VALUE_ERROR, "sequence_lengths must be 1-D where batch_axis is given; got rank %lld",
                        (ll)lengths->count);
    if (lengths->value[0] != batches)
        return dml_fail(status, DML_VALUE_ERROR,
                        "sequence_lengths must have %lld entries, the size of input's axis %d (batch_axis); got %lld",
                        (ll)batches, batch_axis, (ll)lengths->value[0]);
    return DML_OK;
}

static dml_code check_lengths(const dml_ints *lengths, int axis, const dml_tensor *input, dml_status *status)
{
    if (lengths->count != input->rank)
        return dml_fail(status, DML_VALUE_ERROR,
                        "sequence_lengths must have input's rank, %d (or batch_axis must be given); got rank %lld", input->rank,
                        (ll)lengths->count);
    for (int k = 0; k < input->rank; k++) {
        int64_t size = lengths->value[k], dim = input->shape[k];
        if (k == axis && size != 1)
            return dml_fail(status, DML_VALUE_ERROR, "sequence_lengths must have size 1 on axis %d, the one reversed; got %lld",
                            k, (ll)size);
        if (k != axis && size != dim && size != 1)
            return dml_fail(status, DML_VALUE_ERROR,
                            "sequence_lengths must have size %lld or 1 on axis %d, as input has; got %lld", (ll)dim, k,
                            (ll)size);
    }
    return DML_OK;
}

static dml_code shape(dml_program *program, dml_status *status)
{
    const dml_tensor *input = program->inputs;
    const dml_ints *lengths = &program->args[LENGTHS];
    const dml_ints *batch = &program->args[BATCH_AXIS];
    int axis = (int)program->args[AXIS].value[0];
    return batch->given ? check_batch(lengths, axis, (int)batch->value[0], input, status)
                        : check_lengths(lengths, axis, input, status);
}

static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_ints *lengths = &program->args[LENGTHS], *batch = &program->args[BATCH_AXIS];
    dml_plan_add_axes(&step->plan, program->inputs, program->inputs, program->results);
    step->plan.reversed = (int)program->args[AXIS].value[0];
    step->plan.entries = program->entries;
    int64_t strides[DML_MAX_RANK];
    dml_entry_strides(program, lengths, strides);
    for (int k = 0; k < lengths->count; k++)
        if (lengths->value[k] > 1)
            step->plan.axes[batch->given ? batch->value[0] : k].entry_stride = strides[k];
}

const dml_operator dml_op_reverse_subsequences = {
    .input = "input",
    .parameters = {[LENGTHS] = {.name = "sequence_lengths", .kind = DML_ARG_LENGTHS},
                   [AXIS] = {.name = "axis", .kind = DML_ARG_AXIS},
                   [BATCH_AXIS] = {.name = "batch_axis", .kind = DML_ARG_AXIS, .optional = true}},
    .shape = shape,
    .make = make,
};
