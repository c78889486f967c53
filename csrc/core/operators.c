#include "core/operators.h"

#include <stdio.h>
#include <string.h>

typedef long long ll;

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

/* --- slice --------------------------------------------------------------------------------------------------- */

static dml_code check_entries(const char *name, const dml_ints *ints, int rank, dml_status *status)
{
    if (ints && ints->count != rank)
        return dml_fail(status, DML_VALUE_ERROR, "%s must have one entry per axis of input: %d, got %lld", name, rank,
                        (ll)ints->count);
    return DML_OK;
}

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
        return dml_fail(status, DML_VALUE_ERROR, "offsets[%d] must be in [0, %lld], the size of input's axis %d; got %lld", k,
                        (ll)dim, k, (ll)offset);
    if (size < 0 || size > dim - offset)
        return dml_fail(status, DML_VALUE_ERROR,
                        "sizes[%d] must be in [0, %lld] (input's axis %d has size %lld, offsets[%d] is %lld); got %lld", k,
                        (ll)(dim - offset), k, (ll)dim, k, (ll)offset, (ll)size);
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
    if (check_entries("offsets", args->offsets, rank, status) || check_entries("sizes", args->sizes, rank, status) ||
        check_entries("strides", args->strides, rank, status) ||
        check_entries("output_sizes", args->output_sizes, rank, status))
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

/* --- depth_to_space, space_to_depth --------------------------------------------------------------------------- */

/* Which axis is which: `batches` in front, then channels and `spatial` axes in the layout's order. */
typedef struct block_axes {
    int batches;
    int spatial;
    int channel;
    int first_spatial;
} block_axes;

static block_axes block_axes_of(int rank, const dml_block_args *args)
{
    block_axes axes;
    axes.spatial = args->single ? rank - 2 : (int)args->block_size->count;
    axes.batches = rank - 1 - axes.spatial;
    axes.channel = args->channels_last ? rank - 1 : axes.batches;
    axes.first_spatial = args->channels_last ? axes.batches : axes.batches + 1;
    return axes;
}

static int64_t block_at(const dml_block_args *args, int k)
{
    return args->block_size->value[args->single ? 0 : k];
}

static dml_code check_block_rank(int rank, const dml_block_args *args, dml_status *status)
{
    ll count = args->block_size->count, b = args->single ? args->block_size->value[0] : 0;
    if (args->single && rank < 4)
        return dml_fail(status, DML_VALUE_ERROR,
                        "block_size as one int needs an input of rank 4 or more (batch, channels, spatial axes); got rank %d: "
                        "pass block_size=(%lld, %lld) for one image without a batch axis, (%lld,) for one spatial axis",
                        rank, b, b, b);
    if (!args->single && rank < 2)
        return dml_fail(status, DML_VALUE_ERROR,
                        "block_size must have one entry per spatial axis, so input must have rank 2 or more, with channels; "
                        "got rank %d",
                        rank);
    if (!args->single && (count < 1 || count > rank - 1))
        return dml_fail(status, DML_VALUE_ERROR,
                        "block_size must have %s %d %s, one per spatial axis, for an input of rank %d; got %lld",
                        rank == 2 ? "exactly" : "1 to", rank - 1, rank == 2 ? "entry" : "entries", rank, count);
    return DML_OK;
}

/* The product of all blocks. */
static dml_code block_volume(const block_axes *axes, const dml_block_args *args, int64_t *volume, dml_status *status)
{
    *volume = 1;
    for (int k = 0; k < axes->spatial; k++) {
        int64_t block = block_at(args, k);
        if (block < 1)
            return dml_fail(status, DML_VALUE_ERROR, "block_size must be at least 1; got %lld", (ll)block);
        if (*volume > INT64_MAX / block)
            return dml_fail(status, DML_VALUE_ERROR, "block_size is too large: the product of its entries overflows at %lld",
                            (ll)block);
        *volume *= block;
    }
    return DML_OK;
}

static dml_code check_product(int64_t a, int64_t b, dml_status *status)
{
    if (b > 0 && a > INT64_MAX / b)
        return dml_fail(status, DML_VALUE_ERROR, "block_size is too large: an axis of size %lld times %lld overflows", (ll)a,
                        (ll)b);
    return DML_OK;
}

static dml_code block_shape(const dml_tensor *input, const dml_block_args *args, dml_tensor *output, dml_status *status)
{
    if (check_block_rank(input->rank, args, status))
        return status->code;
    block_axes axes = block_axes_of(input->rank, args);
    int64_t volume;
    if (block_volume(&axes, args, &volume, status))
        return status->code;
    output->rank = input->rank;
    output->item = input->item;
    memcpy(output->shape, input->shape, sizeof output->shape[0] * (size_t)input->rank);
    int64_t *channels = &output->shape[axes.channel];
    if (args->to_space && *channels % volume != 0)
        return dml_fail(status, DML_VALUE_ERROR,
                        "input has %lld channels (axis %d), which is not divisible by %lld, the product of block_size",
                        (ll)*channels, axes.channel, (ll)volume);
    if (!args->to_space && check_product(*channels, volume, status))
        return status->code;
    *channels = args->to_space ? *channels / volume : *channels * volume;

    for (int k = 0; k < axes.spatial; k++) {
        int axis = axes.first_spatial + k;
        int64_t block = block_at(args, k), *size = &output->shape[axis];
        if (!args->to_space && *size % block != 0)
            return dml_fail(status, DML_VALUE_ERROR, "input's spatial axis %d has size %lld, not divisible by block_size %lld",
                            axis, (ll)*size, (ll)block);
        if (args->to_space && check_product(*size, block, status))
            return status->code;
        *size = args->to_space ? *size * block : *size / block;
    }
    dml_tensor_pack(output);
    return DML_OK;
}

dml_code dml_block_shape(const dml_tensor *input, const dml_block_args *args, dml_tensor *output, dml_status *status)
{
    dml_block_args other = *args;
    other.channels_last = !args->channels_last;
    dml_status ignored;
    dml_code code = block_shape(input, args, output, status);
    if (code && !block_shape(input, &other, output, &ignored)) {
        size_t length = strlen(status->message);
        snprintf(status->message + length, sizeof status->message - length, "; channels %s? layout=\"%s\"",
                 args->channels_last ? "first" : "last", args->channels_last ? "NCHW" : "NHWC");
    }
    return code;
}

void dml_block_plan(const dml_tensor *input, const dml_block_args *args, const dml_tensor *output, dml_plan *plan)
{
    block_axes axes = block_axes_of(input->rank, args);
    /* The two are mirror images: `deep` has the channels, `wide` the space. */
    const dml_tensor *deep = args->to_space ? input : output, *wide = args->to_space ? output : input;
    int64_t channels = wide->shape[axes.channel], channel_stride = deep->strides[axes.channel];
    int64_t volume = 1;
    for (int k = 0; k < axes.spatial; k++)
        volume *= block_at(args, k);

    dml_plan_begin(plan, input->item);
    for (int k = 0; k < axes.batches; k++)
        dml_plan_add(plan, input->shape[k], input->strides[k], output->strides[k]);

    int64_t c_deep = channel_stride * (args->crd ? volume : 1), c_wide = wide->strides[axes.channel];
    dml_plan_add(plan, channels, args->to_space ? c_deep : c_wide, args->to_space ? c_wide : c_deep);

    /* A step of one in block k passes over all later blocks, and in DCR over the channels as well. */
    int64_t step = channel_stride * volume * (args->crd ? 1 : channels);
    for (int k = 0; k < axes.spatial; k++) {
        int axis = axes.first_spatial + k;
        int64_t block = block_at(args, k), pixel = wide->strides[axis], outer = block * pixel;
        step /= block;
        dml_plan_add(plan, deep->shape[axis], args->to_space ? deep->strides[axis] : outer,
                     args->to_space ? outer : deep->strides[axis]);
        dml_plan_add(plan, block, args->to_space ? step : pixel, args->to_space ? pixel : step);
    }
}

/* --- reverse_subsequences -------------------------------------------------------------------------------------- */

dml_code dml_reverse_shape(const dml_tensor *input, const dml_reverse_args *args, dml_tensor *output, dml_status *status)
{
    if (args->batch_axis >= 0) {
        int64_t batches = input->shape[args->batch_axis];
        if (args->batch_axis == args->axis)
            return dml_fail(status, DML_VALUE_ERROR, "batch_axis must differ from axis; both are %d", args->axis);
        if (args->length_rank != 1)
            return dml_fail(status, DML_VALUE_ERROR, "sequence_lengths must be 1-D where batch_axis is given; got rank %d",
                            args->length_rank);
        if (args->length_shape[0] != batches)
            return dml_fail(status, DML_VALUE_ERROR,
                            "sequence_lengths must have %lld entries, the size of input's axis %d (batch_axis); got %lld",
                            (ll)batches, args->batch_axis, (ll)args->length_shape[0]);
    } else {
        if (args->length_rank != input->rank)
            return dml_fail(status, DML_VALUE_ERROR,
                            "sequence_lengths must have input's rank, %d (or batch_axis must be given); got rank %d",
                            input->rank, args->length_rank);
        for (int k = 0; k < input->rank; k++) {
            int64_t size = args->length_shape[k], dim = input->shape[k];
            if (k == args->axis && size != 1)
                return dml_fail(status, DML_VALUE_ERROR,
                                "sequence_lengths must have size 1 on axis %d, the one reversed; got %lld", k, (ll)size);
            if (k != args->axis && size != dim && size != 1)
                return dml_fail(status, DML_VALUE_ERROR,
                                "sequence_lengths must have size %lld or 1 on axis %d, as input has; got %lld", (ll)dim, k,
                                (ll)size);
        }
    }
    *output = *input;
    dml_tensor_pack(output);
    return DML_OK;
}

void dml_reverse_plan(const dml_tensor *input, const dml_reverse_args *args, const int64_t *lengths, const dml_tensor *output,
                      dml_plan *plan)
{
    dml_plan_begin(plan, input->item);
    for (int k = 0; k < input->rank; k++)
        dml_plan_add(plan, input->shape[k], input->strides[k], output->strides[k]);
    plan->reversed = args->axis;
    plan->lengths = lengths;
    int64_t entries = 1;
    for (int k = args->length_rank - 1; k >= 0; k--) {
        if (args->length_shape[k] > 1)
            plan->axes[args->batch_axis >= 0 ? args->batch_axis : k].length_stride = entries;
        entries *= args->length_shape[k];
    }
}
