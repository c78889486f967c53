#include "core/op_join.h"

typedef long long ll;

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

dml_code dml_join_shape(const dml_tensor *inputs, int64_t count, int64_t axis, dml_parts *parts, dml_tensor *result,
                        dml_status *status)
{
    if (dml_normalize_axis("axis", axis, inputs[0].rank, &parts->axis, status))
        return status->code;
    *result = inputs[0];
    int64_t *size = &result->shape[parts->axis];
    *size = 0;
    for (int64_t i = 0; i < count; i++) {
        if (check_input(inputs, i, parts->axis, status))
            return status->code;
        int64_t more = inputs[i].shape[parts->axis];
        if (more > INT64_MAX - *size)
            return dml_fail(status, DML_VALUE_ERROR, "inputs are too large: the sum of their sizes on axis %d overflows",
                            parts->axis);
        parts->begin[i] = *size;
        *size += more;
    }
    dml_tensor_pack(result);
    return DML_OK;
}
