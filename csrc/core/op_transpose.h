/* transpose, as numpy.transpose has it, copied. */
#ifndef DML_CORE_OP_TRANSPOSE_H
#define DML_CORE_OP_TRANSPOSE_H

#include "core/operator.h"

/* `axes` is NULL (all in reverse order), or becomes normalized. */
dml_code dml_transpose_shape(const dml_tensor *input, dml_ints *axes, dml_tensor *result, dml_status *status);
void dml_transpose_plan(const dml_tensor *input, const dml_ints *axes, const dml_tensor *result, dml_plan *plan);

#endif
