#include "core/op_blocks.h"

#include <stdio.h>
#include <string.h>

typedef long long ll;

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
    if (dml_check_spatial("block_size", args->block_size, args->single, input->rank, status))
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
