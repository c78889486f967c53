/* Pieces of a plan, small enough for what a device binds, or for what is staged.
 *
 *     for (dml_split_begin(&split, &plan, &limits); dml_split_next(&split, &piece);) ...
 *
 * Elements are never cut, so one longer than a limit becomes many; a reversed axis is cut only where it leaves the others no room,
 * and pieces in which its lengths leave nothing to do are left out.
 */
#ifndef DML_CORE_SPLIT_H
#define DML_CORE_SPLIT_H

#include "core/piece.h"

/* A side that is packed (core/pack.h) takes memory for its elements, any other for all that it spans. All limits that are
 * used are 64 or more, and none is larger than the one before it. */
typedef struct dml_limits {
    int64_t window;  /* most bytes that a side spans */
    int64_t binding; /* and that it had better span, where pieces have each a part of it to themselves; most bytes of lengths */
    int64_t chunk;   /* most bytes of a side that is packed */
    bool pack_src;
    bool pack_dst;
} dml_limits;

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

#endif
