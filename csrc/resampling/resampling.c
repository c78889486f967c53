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
