/* tile, as numpy.tile has it. */
#ifndef DML_CORE_OP_TILE_H
#define DML_CORE_OP_TILE_H

#include "core/operator.h"

dml_code dml_tile_shape(const dml_tensor *input, const dml_ints *repeats, dml_tensor *result, dml_status *status);
void dml_tile_plan(const dml_tensor *input, const dml_ints *repeats, const dml_tensor *result, dml_plan *plan);

#endif
