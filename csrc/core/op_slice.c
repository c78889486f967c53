#include "core/op_slice.h"

typedef long long ll;

/* Elements a window of `size` > 0 reaches with a stride; its magnitude may be that of the most negative int64. */
static int64_t reachable(int64_t size, int64_t stride)
{
    uint64_t step = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
    return 1 + (int64_t)((uint64_t)(size - 1) / step);
}

static dml_code slice_axis(int k, int64_t dim, const dml_slice_args *args, int64_t *extent, dml_status *status)
{
    int64_t offset = args->offsets->value[k], size = args->sizes->value[k];
    int64_t stride = args->strides ? args->strides->value[k] : 1;
    if (offset < 0 || offset > dim)
        return dml_fail(status, DML_VALUE_ERROR, "offsets[%d] must be in [0, %lld], the size of %s's axis %d; got %lld", k,
                        (ll)dim, args->of, k, (ll)offset);
    if (size < 0 || size > dim - offset)
        return dml_fail(status, DML_VALUE_ERROR,
                        "sizes[%d] must be in [0, %lld] (%s's axis %d has size %lld, offsets[%d] is %lld); got %lld", k,
                        (ll)(dim - offset), args->of, k, (ll)dim, k, (ll)offset, (ll)size);
    if (stride == 0)
        return dml_fail(status, DML_VALUE_ERROR, "strides[%d] must not be 0", k);

    int64_t most = size > 0 ? reachable(size, stride) : 0, least = most > 0;
    *extent = args->output_sizes ? args->output_sizes->value[k] : most;
    if (*extent < least || *extent > most)
        return dml_fail(status, DML_VALUE_ERROR,
                        "output_sizes[%d] must be in [%lld, %lld] (sizes[%d] is %lld, strides[%d] is %lld); got %lld", k,
                        (ll)least, (ll)most, k, (ll)size, k, (ll)stride, (ll)*extent);
    return DML_OK;
}

dml_code dml_slice_shape(const dml_tensor *input, const dml_slice_args *args, dml_tensor *output, dml_status *status)
{
    int rank = input->rank;
    if (dml_check_entries("offsets", args->offsets, args->of, rank, status) ||
        dml_check_entries("sizes", args->sizes, args->of, rank, status) ||
        dml_check_entries("strides", args->strides, args->of, rank, status) ||
        dml_check_entries("output_sizes", args->output_sizes, args->of, rank, status))
        return status->code;
    output->rank = rank;
    output->item = input->item;
    for (int k = 0; k < rank; k++)
        if (slice_axis(k, input->shape[k], args, &output->shape[k], status))
            return status->code;
    dml_tensor_pack(output);
    return DML_OK;
}

void dml_slice_plan(const dml_tensor *input, const dml_slice_args *args, const dml_tensor *output, dml_plan *plan)
{
    dml_plan_begin(plan, input->item);
    for (int k = 0; k < input->rank; k++) {
        int64_t extent = output->shape[k], first = args->offsets->value[k];
        int64_t stride = args->strides ? args->strides->value[k] : 1;
        if (stride < 0)
            first += args->sizes->value[k] - 1;
        if (input->shape[k] > 1 && extent > 0)
            plan->src_offset += first * input->strides[k];
        /* A stride beyond the window is never taken; left alone it could overflow. */
        dml_plan_add(plan, extent, extent > 1 ? stride * input->strides[k] : 0, output->strides[k]);
    }
}
