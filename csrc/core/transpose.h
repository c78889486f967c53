/* Transposes: plans whose destination is contiguous along one axis and whose source along another, far apart on either side.
 *
 * Rows of few items would be gathered from as many places. Instead an invocation moves a block: one word of several
 * neighbouring rows, of items that are neighbours in the source. That is the pattern of rows with streams that share a window.
 */
#ifndef DML_CORE_TRANSPOSE_H
#define DML_CORE_TRANSPOSE_H

#include "core/rows.h"

enum { DML_BLOCK_ROWS = 8 };

/* The axis along which the source is contiguous, if a plan is a transpose and rows of the destination begin at words; else -1.
 * The last axis is the destination's. */
int dml_transpose_axis(const dml_plan *plan);

/* Makes blocks of such a plan, simplified. `blocks` becomes the plan that `rows` refers to. False if it has none: then there is
 * no such axis, its extent is no multiple of DML_BLOCK_ROWS, or rows do not begin at words. */
bool dml_transpose_find(const dml_plan *plan, const dml_tunables *tunables, uint32_t dst, dml_plan *blocks, dml_rows *rows);

#endif
