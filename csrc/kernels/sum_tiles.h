/* How the kernels of sums go through a plan that has a sum. */
#ifndef DML_KERNELS_SUM_TILES_H
#define DML_KERNELS_SUM_TILES_H

#include "kernels/sum_weights.h"
#include "plan/piece.h"

typedef struct dml_sum_tiles {
    dml_plan plan;      /* without the axis of channels; entry strides are of packed weights */
    int32_t way;        /* DML_SUMS_SINGLY, ... */
    int run, side;      /* the axes of a tile; -1: there is none */
    int32_t tile;       /* indices along the run, */
    int32_t channels;   /* source bytes from one to the next, */
    int32_t outputs;    /* outputs of each, */
    bool flipped;       /* in the reversed order of the source, */
    int32_t rows;       /* and indices along the side */
    int32_t align;      /* DML_SUMS_ALIGN */
    int32_t word;       /* DML_SUMS_WORD */
    bool early;         /* DML_SUMS_EARLY */
    int64_t src_offset; /* from what the plan reads first to what tiles do */
    bool shuffled;      /* a subgroup makes tiles together, */
    int32_t units;      /* of whose inputs along the run it loads so many of a row, */
    int32_t registers;  /* DML_SUMS_REGISTERS */
    dml_sum_weights weights;
} dml_sum_tiles;

/* `src` and `dst`: where the first element is read and written, from a multiple of 16 bytes on. `rows` is the most that share
 * weights; 0: outputs are made one by one, so that few pipelines do for all plans. */
void dml_sum_tiles_find(const dml_plan *plan, uint32_t src, uint32_t dst, int32_t rows, dml_sum_tiles *tiles);

/* The same for subgroups, of so many rows; false where they make none. */
bool dml_sum_tiles_shuffle(const dml_plan *plan, uint32_t src, uint32_t dst, int32_t rows, dml_sum_tiles *tiles);

/* Whether a sum needs floats that are rounded to nearest even. */
bool dml_sum_has_floats(const dml_sum *sum);

/* Whether kernels make the bits that plan.h says. */
bool dml_sum_is_exact(const dml_sum *sum);

#endif
