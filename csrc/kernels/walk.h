/* Walks the dispatches that move a plan: of each piece, and of what the dispatch of a piece leaves.
 *
 *     for (dml_walk_begin(&walk, &plan, traits, &limits, src_base, dst_base); dml_walk_next(&walk, &piece, &dispatch);) ...
 */
#ifndef DML_KERNELS_WALK_H
#define DML_KERNELS_WALK_H

#include "kernels/dispatch.h"

/* Bytes. A packed side (plan/piece.h) needs memory for its elements alone, another for all that it spans. Each limit that is
 * used is 64 or more, and no larger than the one before it. */
typedef struct dml_limits {
    int64_t range;   /* most that a side spans */
    int64_t binding; /* most that it spans if such pieces do not overlap; most of the entries */
    int64_t chunk;   /* most of a packed side */
    bool pack_src;
    bool pack_dst;
} dml_limits;

typedef struct dml_split {
    dml_plan plan;
    /* On each axis, and then on the source side of the reversed axis, or on each gathered one: */
    int64_t tile[DML_MAX_AXES + DML_MAX_RANK];  /* extent of a piece */
    int64_t begin[DML_MAX_AXES + DML_MAX_RANK]; /* of the next piece */
    bool kept[2][DML_MAX_AXES];                 /* the axes of a packed side that keep their strides */
    bool done;
} dml_split;

/* What the dispatch of a piece has left. */
typedef struct dml_left {
    dml_plan plan; /* of the piece */
    dml_cut rests[DML_MAX_RESTS];
    int count;
    int next;
} dml_left;

typedef struct dml_walk {
    dml_split split;
    const dml_traits *traits; /* borrowed */
    uint64_t src_base;
    uint64_t dst_base;
    bool pack[2];       /* the sides that are packed, */
    dml_plan copies[2]; /* and what moves the elements of this piece there, or from there */
    int depth;          /* of the next rest: how many of `left` are in use */
    dml_left left[DML_MAX_DEPTH];
} dml_walk;

/* The plan is simplified, and not empty. The bases are those of dml_dispatch_choose; a packed side has none. */
void dml_walk_begin(dml_walk *walk, const dml_plan *plan, const dml_traits *traits, const dml_limits *limits, uint64_t src_base,
                    uint64_t dst_base);

/* The next piece, simplified unless it was cut, and its dispatch; or a rest, which has to wait for what was before. */
bool dml_walk_next(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch);

/* The same in two: what is left of the last piece, and then the next piece of the plan. */
bool dml_walk_next_rest(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch);
bool dml_walk_next_piece(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch);

/* --- the pieces ------------------------------------------------------------------------------------------------------ */

/* What a device binds. */
dml_limits dml_split_limits(const dml_traits *traits);

/* The plan is simplified, and not empty. A source with gathered axes is not packed. */
void dml_split_begin(dml_split *split, const dml_plan *plan, const dml_limits *limits);
bool dml_split_next(dml_split *split, dml_piece *piece);

/* Source bytes from the first to the last input that a piece may read, where the plan has a sum; else 0. */
int64_t dml_taps_reach(const dml_split *split);

/* Cuts the axis that is summed until its inputs leave the other axes an eighth of the limit, if they have more than that. Gives
 * the reduction. */
int64_t dml_taps_fit(dml_split *split, int64_t limit);

#endif
