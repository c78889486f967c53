#include "core/operator.h"

int64_t dml_tensor_count(const dml_tensor *tensor)
{
    int64_t count = 1;
    for (int k = 0; k < tensor->rank; k++)
        count *= tensor->shape[k];
    return count;
}

void dml_tensor_pack(dml_tensor *tensor)
{
    uint64_t stride = (uint64_t)tensor->item; /* of a shape that is refused for its size, it wraps */
    for (int k = tensor->rank - 1; k >= 0; k--) {
        tensor->strides[k] = (int64_t)stride;
        stride *= tensor->shape[k] > 0 ? (uint64_t)tensor->shape[k] : 1;
    }
}

dml_code dml_normalize_axis(const char *name, int64_t axis, int rank, int *normalized, dml_status *status)
{
    if (axis < -rank || axis >= rank)
        return dml_fail_axis(status, name, axis, rank);
    *normalized = (int)(axis < 0 ? axis + rank : axis);
    return DML_OK;
}

dml_code dml_check_entries(const char *name, const dml_ints *ints, const char *of, int rank, dml_status *status)
{
    if (ints && ints->count != rank)
        return dml_fail(status, DML_VALUE_ERROR, "%s must have one entry per axis of %s: %d, got %lld", name, of, rank,
                        (long long)ints->count);
    return DML_OK;
}

dml_code dml_check_least(const char *name, const dml_ints *ints, int k, int64_t least, dml_status *status)
{
    if (ints->value[k] < least)
        return dml_fail(status, DML_VALUE_ERROR, "%s[%d] must be at least %lld; got %lld", name, k, (long long)least,
                        (long long)ints->value[k]);
    return DML_OK;
}

dml_code dml_check_spatial(const char *name, const dml_ints *ints, bool single, int rank, dml_status *status)
{
    long long count = ints->count, value = single ? ints->value[0] : 0;
    if (single && rank < 4)
        return dml_fail(status, DML_VALUE_ERROR,
                        "%s as one int needs an input of rank 4 or more (batch, channels, spatial axes); got rank %d: pass "
                        "%s=(%lld, %lld) for one image without a batch axis, (%lld,) for one spatial axis",
                        name, rank, name, value, value, value);
    if (!single && rank < 2)
        return dml_fail(
            status, DML_VALUE_ERROR,
            "%s must have one entry per spatial axis, so input must have rank 2 or more, with channels; got rank %d", name,
            rank);
    if (!single && (count < 1 || count > rank - 1))
        return dml_fail(status, DML_VALUE_ERROR,
                        "%s must have %s %d %s, one per spatial axis, for an input of rank %d; got %lld", name,
                        rank == 2 ? "exactly" : "1 to", rank - 1, rank == 2 ? "entry" : "entries", rank, count);
    return DML_OK;
}

dml_code dml_multiply_axis(const char *name, int64_t by, int axis, int64_t *size, dml_status *status)
{
    if (by > 0 && *size > INT64_MAX / by)
        return dml_fail(status, DML_VALUE_ERROR, "%s is too large: axis %d of size %lld times %lld overflows", name, axis,
                        (long long)*size, (long long)by);
    *size *= by;
    return DML_OK;
}
