#include "resampling/resampling.h"

void dml_resampling_release(dml_resampling *resampling)
{
    for (int k = 0; k < resampling->passes; k++)
        dml_weights_release(resampling->weights[k]);
    resampling->passes = 0;
}

dml_code dml_resampling_pass(dml_resampling *resampling, int axis, const dml_weights_key *key, dml_status *status)
{
    dml_weights *weights;
    dml_code code = dml_weights_of(key, &weights, status);
    if (code)
        return code;
    resampling->axes[resampling->passes] = axis;
    resampling->weights[resampling->passes++] = weights;
    return DML_OK;
}

void dml_resampling_part(dml_resampling *resampling, const int64_t begin[3], const int64_t end[3], const dml_sum *sum)
{
    for (int k = 0; k < 3; k++)
        if (begin[k] >= end[k])
            return;
    dml_resampled_part *part = &resampling->parts[resampling->part_count++];
    for (int k = 0; k < 3; k++) {
        part->begin[k] = begin[k];
        part->end[k] = end[k];
    }
    part->sum = *sum;
}

void dml_resampling_blocks(dml_resampling *resampling, const dml_resampling_request *request, const int64_t factors[2],
                           dml_block_mean *mean_of)
{
    for (int k = 0; k < 4; k++) {
        int64_t begin[3] = {0}, end[3] = {0, 0, INT64_MAX}, count = 1;
        for (int axis = 0; axis < 2; axis++) {
            const int64_t outputs = request->outputs[axis], whole = dml_smaller(request->inputs[axis] / factors[axis], outputs);
            const bool rest = k >> axis & 1;
            begin[axis] = rest ? whole : 0;
            end[axis] = rest ? outputs : whole;
            count *= rest ? request->inputs[axis] - whole * factors[axis] : factors[axis];
        }
        const dml_sum sum = mean_of(factors, count, request->items);
        dml_resampling_part(resampling, begin, end, &sum);
    }
}
