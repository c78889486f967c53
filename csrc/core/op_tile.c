#include "core/op_tile.h"

dml_code dml_tile_shape(const dml_tensor *input, const dml_ints *repeats, dml_tensor *result, dml_status *status)
{
    if (dml_check_entries("repeats", repeats, "input", input->rank, status))
        return status->code;
    *result = *input;
    for (int k = 0; k < input->rank; k++)
        if (dml_check_least("repeats", repeats, k, 0, status) ||
            dml_multiply_axis("repeats", repeats->value[k], k, &result->shape[k], status))
            return status->code;
    dml_tensor_pack(result);
    return DML_OK;
}

/* Two axes each: the copies, which all read the same, and what is in one. */
void dml_tile_plan(const dml_tensor *input, const dml_ints *repeats, const dml_tensor *result, dml_plan *plan)
{
    dml_plan_begin(plan, input->item);
    for (int k = 0; k < input->rank; k++) {
        dml_plan_add(plan, repeats->value[k], 0, input->shape[k] * result->strides[k]);
        dml_plan_add(plan, input->shape[k], input->strides[k], result->strides[k]);
    }
}
