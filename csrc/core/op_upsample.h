/* upsample: nearest neighbour by whole factors. */
#ifndef DML_CORE_OP_UPSAMPLE_H
#define DML_CORE_OP_UPSAMPLE_H

#include "core/operator.h"

/* `single`: scale_size was one int, for every spatial axis (axis 0 is batch). */
typedef struct dml_upsample_args {
    const dml_ints *scale_size;
    bool single;
    bool channels_last; /* layout="NHWC" */
} dml_upsample_args;

dml_code dml_upsample_shape(const dml_tensor *input, const dml_upsample_args *args, dml_tensor *result, dml_status *status);
void dml_upsample_plan(const dml_tensor *input, const dml_upsample_args *args, const dml_tensor *result, dml_plan *plan);

#endif
