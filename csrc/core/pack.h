/* Where the elements of one side lie when what is between them is left out, as in staging memory: closely, in the same order. */
#ifndef DML_CORE_PACK_H
#define DML_CORE_PACK_H

#include "core/piece.h"

/* Chooses the axes of one side of a plan, of so many indices each, that keep their strides when it is packed. Gives the bytes that it takes
 * then, and that pieces with fewer indices do not exceed. */
int64_t dml_pack_choose(const dml_plan *plan, const int64_t *extents, dml_side side, bool *kept);

/* Packs one side of a piece of a split that says so, from offset 0 on. `copy` becomes what moves its elements: from where they lay to where they are now. It
 * reads bytes between them, where these are few, and with `exact` writes and reads none. */
void dml_pack(const bool *kept, dml_piece *piece, dml_side side, bool exact, dml_plan *copy);

#endif
