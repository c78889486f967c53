/* The places of a block: its allocations, of which those that are not in use are kept for the next ones. The caller has the
 * context's lock. */
#ifndef DML_VK_PLACES_H
#define DML_VK_PLACES_H

#include "device/allocation.h"

typedef struct dml_block dml_block;

/* One that is not in use; or a new one, for which the block has room: NULL without memory. Memory that the host does not see is
 * handed out in turn: on a GPU, what follows on work with the same memory waits for it. Else what was used last is still in a
 * cache. */
dml_allocation *dml_place_take(dml_block *block);

/* Keeps one that is not in use any more; where they are handed out in turn, behind the others. */
void dml_place_put(dml_block *block, dml_allocation *allocation);

/* Frees those that are kept. */
void dml_places_free(dml_block *block);

#endif
