/* The places of a block: its allocations, of which those that are not in use are kept for the next ones. The caller has the
 * context's lock. */
#ifndef DML_VK_PLACES_H
#define DML_VK_PLACES_H

#include "device/allocation.h"

typedef struct dml_block dml_block;

/* An allocation of the next place that has had none; NULL without memory. */
dml_allocation *dml_place_make(dml_block *block);

/* Keeps one that is not in use; where they are handed out in turn, behind the others. */
void dml_place_put(dml_block *block, dml_allocation *allocation);

/* Frees those that are kept. */
void dml_places_free(dml_block *block);

#endif
