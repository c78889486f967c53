#include "resampling/resampling.h"

#include "resampling/weight_rules.h"

static void clip_parts(dml_resampling *resampling, const dml_resampling_request *request)
{
    const int64_t begin[3] = {0}, end[3] = {request->outputs[0], request->outputs[1], INT64_MAX};
    const int last = resampling->passes - 1;
    if (last < 0)
        return;
    resampling->first = (dml_sum){.kind = DML_SUM_CLIP, .shift = resampling->weights[0]->shift};
    dml_resampling_part(resampling, begin, end, &(dml_sum){.kind = DML_SUM_CLIP, .shift = resampling->weights[last]->shift});
}

/* A pass that does not change its axis is left out, not filtered by a weight of one. */
static bool pillow_needs(const dml_resampling_request *request, int axis)
{
    return request->outputs[axis] != request->inputs[axis] || request->from[axis] != 0.0 ||
           request->to[axis] != (double)request->outputs[axis];
}

static dml_code pillow(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status)
{
    const int64_t fewer_rows = request->inputs[0] - request->outputs[0],
                  fewer_columns = request->inputs[1] - request->outputs[1];
    const int begin = request->newer && fewer_rows > 0 && fewer_rows > 2 * fewer_columns ? DML_ROWS_AXIS : DML_COLUMNS_AXIS;
    dml_code code = DML_OK;
    for (int k = 0, axis = begin; k < 2 && !code; k++, axis = 1 - axis) {
        const dml_weights_key key = {DML_RULE_PILLOW,        request->filter,     request->inputs[axis],
                                     request->outputs[axis], request->from[axis], request->to[axis]};
        if (pillow_needs(request, axis))
            code = dml_resampling_pass(resampling, axis, &key, status);
    }
    clip_parts(resampling, request);
    return code;
}

static dml_code torchvision(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status)
{
    const int32_t rule = request->newer ? DML_RULE_TORCHVISION : DML_RULE_TORCHVISION_PLAIN;
    dml_code code = DML_OK;
    for (int axis = DML_COLUMNS_AXIS; axis >= 0 && !code; axis--) {
        const dml_weights_key key = {rule, request->filter, request->inputs[axis], request->outputs[axis], 0.0, 0.0};
        if (request->inputs[axis] != request->outputs[axis])
            code = dml_resampling_pass(resampling, axis, &key, status);
    }
    clip_parts(resampling, request);
    return code;
}

/* Blocks whose sums are divided by what they have, as a product that is shifted: a float's quotient, which is cut off. */
static dml_sum mean_of(const int64_t factors[2], int64_t count, int64_t items)
{
    (void)factors, (void)items;
    const float divided = 4294967296.0F / (float)(256 * dml_larger(count, 1));
    return (dml_sum){.kind = DML_SUM_REDUCE, .half = (uint32_t)(count / 2), .multiplier = (uint32_t)divided};
}

static dml_code pillow_reduce(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status)
{
    const int64_t factors[2] = {(int64_t)request->from[0], (int64_t)request->from[1]};
    dml_code code = DML_OK;
    for (int axis = DML_ROWS_AXIS; axis < 2 && !code; axis++) {
        const dml_weights_key key = {DML_RULE_BLOCKS,     0,  request->inputs[axis], request->outputs[axis],
                                     request->from[axis], 0.0};
        if (request->from[axis] > 1.0)
            code = dml_resampling_pass(resampling, axis, &key, status);
    }
    resampling->first.kind = DML_SUM_SHIFT;
    resampling->between = DML_INT32;
    dml_resampling_blocks(resampling, request, factors, mean_of);
    return code;
}

dml_code dml_resampling_make(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status)
{
    static dml_code (*const makers[])(const dml_resampling_request *, dml_resampling *, dml_status *) = {
        [DML_PILLOW] = pillow,
        [DML_PILLOW_REDUCE] = pillow_reduce,
        [DML_OPENCV] = dml_resampling_opencv,
        [DML_TORCHVISION] = torchvision,
    };
    *resampling = (dml_resampling){.between = DML_UINT8};
    dml_code code = makers[request->library](request, resampling, status);
    if (code)
        dml_resampling_release(resampling);
    return code;
}
