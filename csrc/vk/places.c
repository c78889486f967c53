#include "vk/allocation_pool.h"

#include <stdlib.h>

/* The next allocation of a block; NULL without memory. */
static dml_allocation *make(dml_block *block)
{
    dml_place *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->block = block;
    made->offset = (uint64_t)block->each * (uint64_t)block->made++;
    made->timeline_value = made->written = block->divided;
    made->loans.count = block->lent;
    char *mapped = block->buffer.mapped;
    made->allocation = (dml_allocation){.data = mapped ? mapped + made->offset : NULL, .place = made};
    return &made->allocation;
}

dml_allocation *dml_place_take(dml_block *block)
{
    const bool in_turn = !block->buffer.mapped && block->made < block->room;
    dml_allocation *unused = block->unused;
    if (in_turn || !unused)
        return make(block);
    block->unused = unused->place->next;
    return unused;
}

void dml_place_put(dml_block *block, dml_allocation *allocation)
{
    const bool behind = block->unused && !block->buffer.mapped;
    allocation->place->next = behind ? NULL : block->unused;
    *(behind ? &block->last_unused->place->next : &block->unused) = allocation;
    if (!allocation->place->next)
        block->last_unused = allocation;
}

void dml_places_free(dml_block *block)
{
    for (dml_allocation *next; block->unused; block->unused = next) {
        next = block->unused->place->next;
        free(block->unused->place);
    }
    block->made = 0;
}
