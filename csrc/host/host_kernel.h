/* A plan without lengths and indices, simplified, as the host runs it: a kernel moves blocks of two axes, `row` and `col`,
 * within loops over the other axes. Each kernel has a file, whose function fills in its part of the job where it fits the plan.
 */
#ifndef DML_HOST_HOST_KERNEL_H
#define DML_HOST_HOST_KERNEL_H

#include "base/compiler.h"
#include "plan/plan.h"

enum {
    DML_HOST_BLOCK = 256,  /* bytes of a block's sides where rows and columns lie across each other: both stay in the cache */
    DML_HOST_CHAIN = 4,    /* axes of a chain */
    DML_HOST_WINDOWS = 4,  /* windows that a vector of the result may come from, */
    DML_HOST_COMPUTED = 6, /* or one of computed entries, */
    DML_HOST_TURNS = 48,   /* whose constants come again after so many, or a part of these */
    DML_HOST_LINE = 64,    /* bytes of a cache line */
    DML_HOST_VECTOR = 16   /* bytes */
};

struct dml_host_job;

/* Indices of the kernel's axes: [row, row + rows), [col, col + cols). */
typedef struct dml_host_block {
    int64_t row, col, rows, cols;
} dml_host_block;

/* Moves a block, whose element (row, col) is at `src` and `dst`. */
typedef void dml_host_kernel(struct dml_host_job *job, const char *src, char *dst, const dml_host_block *block);

typedef struct dml_host_axis {
    int64_t extent, block; /* indices, and those of a block */
    int64_t src, dst;      /* strides; 0 where the kernel itself knows where its rows and columns lie */
    int64_t entry;         /* another: of the table's rows */
    int64_t advance;       /* bytes of the source from one block to the next, by which loops are ordered */
    int64_t apart;         /* `src` where the readable bytes move with the axis, else 0 */
} dml_host_axis;

/* Axes that continue each other on one side, as one; the innermost first. */
typedef struct dml_host_chain {
    int rank;
    int64_t extent;
    int64_t extents[DML_HOST_CHAIN], strides[DML_HOST_CHAIN]; /* on the other side */
} dml_host_chain;

/* See host_tiles.c. */
typedef struct dml_host_tiles {
    dml_host_chain rows, cols;
    int64_t reach;    /* the largest source offset of a row, within what is readable */
    int64_t row, col; /* of the block that the offsets belong to; -1: none */
    int64_t row_offsets[DML_HOST_BLOCK], col_offsets[DML_HOST_BLOCK];
} dml_host_tiles;

/* See host_shuffles.c. */
typedef struct dml_host_shuffles {
    int64_t cell, indices;                                 /* bytes of the result to an index of `col`; indices to a vector */
    int64_t from[DML_HOST_VECTOR], apart[DML_HOST_VECTOR]; /* of each byte: its source offset; how far what is readable moves */
    int windows;
    int64_t offsets[DML_HOST_WINDOWS], low, high; /* of the windows; the lowest and the highest of what is readable */
    uint8_t masks[DML_HOST_WINDOWS][DML_HOST_VECTOR];
} dml_host_shuffles;

/* Runs a plan. */
typedef void dml_host_runner(const dml_plan *plan, const char *src, char *dst);

/* See host_lookups.c. */
typedef struct dml_host_stage {
    const dml_plan *plan;
    dml_host_runner *run; /* dml_host_run_plain, which calls what has this stage: named here, files would call in a circle */
    int row, col;         /* the axes that `row` and `col` of the job are blocks of */
    bool forwards;        /* axes that the source has backwards are forwards in the stage */
    char *memory;         /* for a block, from the pool of results; NULL where no stage is used */
} dml_host_stage;

/* See host_formulas.c. */
typedef struct dml_host_formula {
    const dml_formula *formula;
    int64_t entry, period; /* from the constants of a column to those of the next; columns after which they come again */
} dml_host_formula;

struct dml_host_computed;

/* Computes entries, which lie side by side, of `count` elements. */
typedef void dml_computed_row(const struct dml_host_computed *by, const char *src, char *dst, const float *constants,
                              int64_t count);

/* See host_computed.c. */
typedef struct dml_host_computed {
    dml_computed_row *row;
    uint32_t operations;   /* DML_TABLES_OPERATIONS */
    const char *constants; /* of the table's row of element (0, 0, ...), */
    int64_t table, bytes;  /* bytes of a table's row, and of its constants */
    bool by_turns;         /* elements of a row have constants by turns, */
    float turns[DML_MOST_OPERATIONS][DML_HOST_TURNS];
    bool whole;    /* rows of a block continue each other */
    int windows;   /* that a vector's elements come from, */
    int64_t group; /* bytes from a vector's to the next one's */
    int64_t offsets[DML_HOST_COMPUTED];
    uint8_t masks[DML_HOST_COMPUTED][DML_HOST_VECTOR];
} dml_host_computed;

typedef struct dml_host_job {
    dml_host_kernel *kernel;
    int64_t item;
    const char *begin, *end;  /* readable: bytes that the plan moves, and between them those of the same pages */
    bool apart[DML_MAX_AXES]; /* axes whose indices lie more than a page apart: what is readable moves with them */
    dml_host_axis row, col;
    bool taken[DML_MAX_AXES]; /* the plan's axes that the kernel runs over, for all of the plan's rank */
    const char *entries;      /* of the plan's table, */
    int64_t entry;            /* and how far from there its row lies for the block */
    dml_host_stage stage;
    dml_host_formula formula;
    dml_host_tiles tiles;
    dml_host_shuffles shuffles;
    dml_host_computed computed;
} dml_host_job;

/* Takes the axis of the smallest source stride that is not taken, -1 if all are. */
static inline int dml_host_take_nearest(const dml_plan *plan, bool *taken)
{
    int best = -1;
    for (int k = 0; k < plan->rank; k++)
        if (!taken[k] && (best < 0 || dml_magnitude(plan->axes[k].src_stride) <= dml_magnitude(plan->axes[best].src_stride)))
            best = k;
    if (best >= 0)
        taken[best] = true;
    return best;
}

/* An axis (-1: none, as one index) in blocks of `block` indices, or whole if that is less. */
static inline dml_host_axis dml_host_blocks(const dml_plan *plan, const dml_host_job *job, int k, int64_t block)
{
    const dml_axis one = {1, 0, 0, 0}, *axis = k < 0 ? &one : &plan->axes[k];
    const int64_t stride = axis->src_stride;
    block = block < axis->extent ? block : axis->extent;
    return (dml_host_axis){.extent = axis->extent,
                           .block = block,
                           .src = stride,
                           .dst = axis->dst_stride,
                           .entry = axis->entry_stride,
                           .advance = dml_magnitude(stride * block),
                           .apart = k >= 0 && job->apart[k] ? stride : 0};
}

/* Lines that are read backwards are not prefetched by some processors. */
static inline void dml_host_ask_for(const char *src, int64_t bytes)
{
    for (int64_t at = 0; at <= bytes; at += DML_HOST_LINE)
        DML_PREFETCH(src + at);
}

/* Runs such a plan, as dml_host_run otherwise: chooses its kernel, and loops over what the kernel does not. */
void dml_host_run_plain(const dml_plan *plan, const char *src, char *dst);

/* For a plan that has a table. */
void dml_host_lookups_choose(const dml_plan *plan, dml_host_job *job);

/* For one whose axes `row` and `col` are chosen, where entries are computed; else the job is as before. */
bool dml_host_computed_choose(const dml_plan *plan, dml_host_job *job);

/* For a plan whose table is a formula's constants. */
void dml_host_formulas_choose(const dml_plan *plan, dml_host_job *job);

/* For others. Each of these chooses its kernel where that fits the plan; else the job is as before. */
bool dml_host_shuffles_choose(const dml_plan *plan, dml_host_job *job);

/* How well tiles fit: not at all, well, or better than any other kernel. */
typedef enum dml_tiles_fit { DML_TILES_NONE, DML_TILES_GOOD, DML_TILES_BEST } dml_tiles_fit;
dml_tiles_fit dml_host_tiles_choose(const dml_plan *plan, dml_host_job *job);

#endif
