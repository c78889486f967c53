#include "core/op_transpose.h"

#include <stdio.h>

static int axis_of(const dml_ints *axes, int rank, int k)
{
    return axes ? (int)axes->value[k] : rank - 1 - k;
}

dml_code dml_transpose_shape(const dml_tensor *input, dml_ints *axes, dml_tensor *result, dml_status *status)
{
    bool taken[DML_MAX_RANK] = {false};
    if (dml_check_entries("axes", axes, "input", input->rank, status))
        return status->code;
    result->rank = input->rank;
    result->item = input->item;
    for (int k = 0; k < input->rank; k++) {
        char name[32];
        int axis = axis_of(axes, input->rank, k);
        snprintf(name, sizeof name, "axes[%d]", k);
        if (axes && dml_normalize_axis(name, axes->value[k], input->rank, &axis, status))
            return status->code;
        if (taken[axis])
            return dml_fail(status, DML_VALUE_ERROR, "axes must name each axis of input once; axes[%d] is axis %d again", k,
                            axis);
        taken[axis] = true;
        result->shape[k] = input->shape[axis];
        if (axes)
            axes->value[k] = axis;
    }
    dml_tensor_pack(result);
    return DML_OK;
}

void dml_transpose_plan(const dml_tensor *input, const dml_ints *axes, const dml_tensor *result, dml_plan *plan)
{
    dml_plan_begin(plan, input->item);
    for (int k = 0; k < input->rank; k++)
        dml_plan_add(plan, result->shape[k], input->strides[axis_of(axes, input->rank, k)], result->strides[k]);
}
