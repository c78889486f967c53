/* Blocks: a destination without gaps, made of scalars that the source has in any order. An invocation moves words of 8 bytes of
 * several rows at once: those whose scalars are neighbours in the source. Geometry alone. */
#ifndef DML_KERNELS_BLOCKS_H
#define DML_KERNELS_BLOCKS_H

#include "plan/plan.h"

typedef struct dml_blocks {
    dml_plan plan;   /* of scalars, padded with axes of extent 1: the innermost DML_MAX_CHAIN are a row, and rows lie along the
                      * next two */
    int32_t scalar;  /* bytes */
    int chain;       /* axes of a row that are needed */
    int64_t row;     /* bytes of one, in the destination */
    int64_t inside;  /* indices of the axis behind that of the rows, all of which lie between these in the source; else 1 */
    int64_t rows;    /* neighbours that are moved at once, on both of these axes */
    int64_t sides;   /* so many times; the last may overlap the one before it */
    bool phased;     /* rows begin anywhere in a word */
    int32_t aligned; /* divides all sources of such neighbours: 1, 2, 4 or 8 */
} dml_blocks;

/* False if the plan's destination has gaps, an axis is reversed, or rows are shorter than a word. `src` and `dst` are where
 * source and destination begin in their ranges. */
bool dml_blocks_find(const dml_plan *plan, int32_t scalar, uint32_t src, uint32_t dst, dml_blocks *blocks);

/* The axis of the plan that is axis k of the kernel's table. */
static inline const dml_axis *dml_blocks_axis(const dml_blocks *blocks, int k)
{
    return &blocks->plan.axes[blocks->plan.rank - 1 - k];
}

#endif
