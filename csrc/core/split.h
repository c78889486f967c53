/* Splits a plan into pieces, small enough for what a device binds, or for what is staged.
 *
 *     for (dml_split_begin(&split, &plan, &limits); dml_split_next(&split, &piece);) ...
 *
 * An item is not cut: one longer than a limit becomes an axis of shorter items. The reversed axis is cut only if it leaves the
 * others no room, and so are gathered ones; pieces in which the lengths leave nothing to move are then skipped.
 */
#ifndef DML_CORE_SPLIT_H
#define DML_CORE_SPLIT_H

#include "core/piece.h"
#include "core/tunables.h"

/* Bytes. A packed side (core/pack.h) needs memory for its elements alone, another for all that it spans. Each limit that is
 * used is 64 or more, and no larger than the one before it. */
typedef struct dml_limits {
    int64_t window;  /* most that a side spans */
    int64_t binding; /* most that it spans if such pieces do not overlap; most of the lengths */
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

/* What a device binds. */
dml_limits dml_split_limits(const dml_traits *traits);

/* The plan is simplified, and not empty. A source with gathered axes is not packed. */
void dml_split_begin(dml_split *split, const dml_plan *plan, const dml_limits *limits);
bool dml_split_next(dml_split *split, dml_piece *piece);

#endif
