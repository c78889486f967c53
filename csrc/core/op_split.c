#include "core/op_split.h"

typedef long long ll;

dml_code dml_split_shape(const dml_tensor *input, int64_t axis, dml_parts *parts, int64_t count, dml_tensor *results,
                         dml_status *status)
{
    if (dml_normalize_axis("axis", axis, input->rank, &parts->axis, status))
        return status->code;
    int64_t all = input->shape[parts->axis], sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t size = parts->begin[i];
        if (size < 0 || size > all - sum)
            return dml_fail(
                status, DML_VALUE_ERROR,
                "output_axis_sizes[%lld] must be in [0, %lld], what is left of input's axis %d of size %lld; got %lld", (ll)i,
                (ll)(all - sum), parts->axis, (ll)all, (ll)size);
        results[i] = *input;
        results[i].shape[parts->axis] = size;
        dml_tensor_pack(&results[i]);
        parts->begin[i] = sum;
        sum += size;
    }
    if (sum != all)
        return dml_fail(status, DML_VALUE_ERROR,
                        "output_axis_sizes must add up to %lld, the size of input's axis %d; their sum is %lld", (ll)all,
                        parts->axis, (ll)sum);
    return DML_OK;
}
