/* Transposes: plans whose destination is contiguous along one axis and whose source along another, far apart on either side.
 *
 * Rows of few items would be gathered from as many places. Instead an invocation moves a block: one word of several
 * neighbouring rows, of items that are neighbours in the source. That is the pattern of rows with streams that share a window.
 * A row may begin anywhere in a word. What no block moves, a few columns at its ends and a few rows, is left as rests.
 */
#ifndef DML_CORE_TRANSPOSE_H
#define DML_CORE_TRANSPOSE_H

#include "core/dispatch.h"
#include "core/piece.h"
#include "core/rows.h"

typedef struct dml_transpose {
    dml_plan blocks;               /* the plan that the rows refer to */
    dml_part rests[DML_MAX_RESTS]; /* of the plan: what blocks do not move, or not all of */
    int rest_count;
} dml_transpose;

/* Makes blocks of a piece with a simplified plan, whose destination begins at `dst` in its window. False if it is no transpose,
 * or if rests are not worth their dispatches. */
bool dml_transpose_find(const dml_piece *piece, const dml_tunables *tunables, uint32_t dst, dml_transpose *transpose,
                        dml_rows *rows);

#endif
