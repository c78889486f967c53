/* reverse_subsequences. */
#ifndef DML_CORE_OP_REVERSE_H
#define DML_CORE_OP_REVERSE_H

#include "core/operator.h"

/* The lengths' shape is that of the argument; their values go to the plan as a dense C-order array
 * of that shape, clamped to [0, input->shape[axis]] (dml_clamp_length), which must outlive the plan.
 * `batch_axis` is -1 (normalized already), or lengths are one-dimensional along it. */
typedef struct dml_reverse_args {
    int axis;       /* normalized */
    int batch_axis; /* normalized, or -1 */
    int length_rank;
    const int64_t *length_shape;
} dml_reverse_args;

dml_code dml_reverse_shape(const dml_tensor *input, const dml_reverse_args *args, dml_tensor *output, dml_status *status);
void dml_reverse_plan(const dml_tensor *input, const dml_reverse_args *args, const int64_t *lengths, const dml_tensor *output,
                      dml_plan *plan);

#endif
