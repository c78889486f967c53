/* Kernel choice: makes a dispatch of one piece of a plan. Policy decides how, pattern and schedule fill in constants and
 * table. */
#ifndef DML_CORE_CHOOSE_H
#define DML_CORE_CHOOSE_H

#include "core/dispatch.h"
#include "core/piece.h"

/* `src_base` and `dst_base` are the addresses (or, for a device's own memory, offsets) that the plan's offsets count from: a
 * window is bound from the address below it that is a multiple of the traits' alignment. */
void dml_dispatch_choose(const dml_piece *piece, const dml_traits *device, uint64_t src_base, uint64_t dst_base,
                         dml_dispatch *dispatch);

/* The regions of a copy, in the order of the plan: false if there is none of this index. */
bool dml_dispatch_region(const dml_plan *plan, int64_t index, int64_t *src_offset, int64_t *dst_offset);

#endif
