/* Packing: the elements of one side of a plan without the gaps between them, in the same order. For staging memory. */
#ifndef DML_CORE_PACK_H
#define DML_CORE_PACK_H

#include "core/piece.h"

/* Chooses the axes that keep their strides when one side is packed, given the extents of a piece. Gives its bytes; pieces
 * with smaller extents need no more. */
int64_t dml_pack_choose(const dml_plan *plan, const int64_t *extents, dml_side side, bool *kept);

/* Packs one side of a piece from offset 0 on. `kept` is the split's for that side. `copy` becomes the plan that moves the
 * elements there: it also copies small gaps, unless `exact`. */
void dml_pack(const bool *kept, dml_piece *piece, dml_side side, bool exact, dml_plan *copy);

#endif
