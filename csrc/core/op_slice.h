/* slice. */
#ifndef DML_CORE_OP_SLICE_H
#define DML_CORE_OP_SLICE_H

#include "core/operator.h"

/* `strides` and `output_sizes` may be NULL (ones; all that is reachable). */
typedef struct dml_slice_args {
    const dml_ints *offsets;
    const dml_ints *sizes;
    const dml_ints *strides;
    const dml_ints *output_sizes;
    const char *of; /* what the window lies in: "input" */
} dml_slice_args;

dml_code dml_slice_shape(const dml_tensor *input, const dml_slice_args *args, dml_tensor *output, dml_status *status);
void dml_slice_plan(const dml_tensor *input, const dml_slice_args *args, const dml_tensor *output, dml_plan *plan);

#endif
