/* Pieces of a plan, small enough for what a device binds, or for what is staged.
 *
 *     for (dml_split_begin(&split, &plan, &limits); dml_split_next(&split, &piece);) ...
 *
 * Elements are never cut, so one longer than a limit becomes many; a reversed axis is cut only where it leaves the others no room,
 * and pieces in which its lengths leave nothing to do are left out.
 */
#ifndef DML_CORE_SPLIT_H
#define DML_CORE_SPLIT_H

#include "core/plan.h"

typedef enum dml_side { DML_SRC, DML_DST, DML_LENGTHS } dml_side;

/* A side that is packed (core/pack.h) takes memory for its elements, any other for all that it spans. All limits that are
 * used are 64 or more, and none is larger than the one before it. */
typedef struct dml_limits {
    int64_t window;  /* most bytes that a side spans */
    int64_t binding; /* and that it had better span, where pieces have each a part of it to themselves; most bytes of lengths */
    int64_t chunk;   /* most bytes of a side that is packed */
    bool pack_src;
    bool pack_dst;
} dml_limits;

/* Bytes, or entries of lengths, between neighbours on an axis. */
static inline int64_t dml_side_stride(const dml_axis *axis, dml_side side)
{
    if (side == DML_LENGTHS)
        return axis->length_stride;
    return side == DML_SRC ? axis->src_stride : axis->dst_stride;
}

typedef struct dml_piece {
    dml_plan plan;
    /* Where the reversed axis was cut: the first destination index of this piece on it, and the source indices it may
     * read, [source_begin, source_end), with plan.src_offset at source_begin; an element whose source lies elsewhere
     * belongs to another piece. Without a cut: 0, 0 and the axis' extent, or 0 where no axis is reversed. */
    int64_t reversed_begin;
    int64_t source_begin;
    int64_t source_end;
    bool cut;
} dml_piece;

typedef struct dml_split {
    dml_plan plan;
    int64_t tile[DML_MAX_AXES + 1];  /* extent of a piece on each axis; the last is the reversed axis' source side */
    int64_t begin[DML_MAX_AXES + 1]; /* of the next piece */
    bool kept[2][DML_MAX_AXES];      /* of a side that is packed, the axes that keep their strides */
    bool done;
} dml_split;

/* The plan is simplified, and not empty. */
void dml_split_begin(dml_split *split, const dml_plan *plan, const dml_limits *limits);
bool dml_split_next(dml_split *split, dml_piece *piece);

/* Source indices of a piece on axis k, and the bytes it may read: where the reversed axis was cut, its extent in the plan is
 * the destination's alone. */
int64_t dml_piece_src_extent(const dml_piece *piece, int k);
dml_span dml_piece_src_span(const dml_piece *piece);

#endif
