#include "core/resampling.h"

void dml_resampling_release(dml_resampling *resampling)
{
    for (int k = 0; k < resampling->passes; k++)
        dml_weights_release(resampling->weights[k]);
    resampling->passes = 0;
}

int64_t dml_between_item(dml_between between)
{
    return between == DML_BETWEEN_BYTE ? 1 : between == DML_BETWEEN_UINT16 ? 2 : 4;
}
