/* A piece of a plan: small enough for what a device binds, or for what is staged. */
#ifndef DML_PLAN_PIECE_H
#define DML_PLAN_PIECE_H

#include "plan/plan.h"

typedef enum dml_side { DML_SRC, DML_DST, DML_ENTRIES } dml_side;

typedef struct dml_piece {
    dml_plan plan;
    /* If the reversed axis was cut: the first destination index of this piece on it, and the source indices it may read,
     * [source_begin, source_end), with plan.src_offset at source_begin. An element whose source lies elsewhere belongs to
     * another piece. Without a cut: 0, 0 and the axis' extent, or 0 where no axis is reversed. */
    int64_t reversed_begin;
    int64_t source_begin;
    int64_t source_end;
    int64_t longest; /* extent of the whole reversed axis, to which lengths are clamped */
    bool cut;        /* the reversed axis was, or a gathered one */
    int depth;       /* 0; of a rest, which a dispatch leaves of a piece: one more than that of the piece */
} dml_piece;

/* Bytes of an element on one side; of the side tensor, from its first entry to its last. */
static inline int64_t dml_side_item(const dml_plan *plan, dml_side side)
{
    const int last = plan->gathered - 1;
    if (side == DML_ENTRIES)
        return plan->entries.item + (last < 0 ? 0 : dml_magnitude(plan->gathers[last].entry_offset));
    return side == DML_SRC ? dml_plan_src_item(plan) : plan->item;
}

/* Bytes between neighbours on an axis. */
static inline int64_t dml_side_stride(const dml_axis *axis, dml_side side)
{
    if (side == DML_ENTRIES)
        return axis->entry_stride;
    return side == DML_SRC ? axis->src_stride : axis->dst_stride;
}

/* Source indices of a piece on axis k. Of a reversed axis that was cut, the extent in the plan is the destination's alone. */
int64_t dml_piece_src_extent(const dml_piece *piece, int k);

/* Whether it moves anything, as far as the host sees: the lengths may leave a cut piece nothing. */
bool dml_piece_may_move(const dml_piece *piece);

/* The bytes it may read. */
dml_span dml_piece_src_span(const dml_piece *piece);

/* --- packing: the elements of one side without the gaps between them, in the same order, for staging memory ------------ */

/* Chooses the axes that keep their strides when one side is packed, given the extents of a piece. Gives its bytes; pieces
 * with smaller extents need no more. */
int64_t dml_pack_choose(const dml_plan *plan, const int64_t *extents, dml_side side, bool *kept);

/* Packs one side of a piece from offset 0 on. `kept` is the split's for that side. `copy` becomes the plan that moves the
 * elements there: it also copies small gaps, unless `exact`. */
void dml_pack(const bool *kept, dml_piece *piece, dml_side side, bool exact, dml_plan *copy);

#endif
