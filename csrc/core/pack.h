/* Where the elements of one side lie when what is between them is left out, as in staging memory: closely, in the same order. */
#ifndef DML_CORE_PACK_H
#define DML_CORE_PACK_H

#include "core/split.h"

/* Bytes that one side of a plan takes when packed, of so many indices on each axis. */
int64_t dml_packed_bytes(const dml_plan *plan, const int64_t *extents, dml_side side);

/* Packs one side of a piece, from offset 0 on. `copy` becomes what moves its elements: from where they lay to where they are now. It
 * reads bytes between them, where these are few, and with `exact` writes and reads none. */
void dml_pack(dml_piece *piece, dml_side side, bool exact, dml_plan *copy);

#endif
