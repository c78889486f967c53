/* What one piece of a plan becomes on a device, as plain data: a copy command, or a kernel with its constants and its table.
 * Policy decides which, pattern and schedule fill in constants and table.
 *
 * All byte offsets are modulo 2**32 and relative to the ranges that are bound: src_range and dst_range.
 */
#ifndef DML_KERNELS_DISPATCH_H
#define DML_KERNELS_DISPATCH_H

#include "abi.h"
#include "kernels/sum_weights.h"
#include "kernels/tunables.h"
#include "plan/piece.h"

typedef enum dml_kernel {
    DML_KERNEL_COPY,          /* vkCmdCopyBuffer: one or a few long runs */
    DML_KERNEL_ROWS,          /* shaders/rows.comp: rows of contiguous destination bytes, composed by a pattern */
    DML_KERNEL_WORDS,         /* shaders/words.comp: a destination without gaps, of short rows */
    DML_KERNEL_ELEMENTS,      /* shaders/elements.comp: any plan, a scalar at a time */
    DML_KERNEL_BLOCKS,        /* shaders/blocks.comp: a destination without gaps, transposed from scalars in any order */
    DML_KERNEL_TABLES,        /* shaders/tables.comp: any plan that has a table */
    DML_KERNEL_FORMULAS,      /* shaders/formulas.comp: any plan that has a formula whose numbers have 32 bits */
    DML_KERNEL_SUMS,          /* shaders/sums.comp: any plan that has a sum of integers, */
    DML_KERNEL_FLOAT_SUMS,    /* shaders/float_sums.comp: or of floats */
    DML_KERNEL_SHUFFLED_SUMS, /* shaders/shuffled_sums.comp: a sum of integers along rows, by subgroups */
    DML_KERNEL_COUNT
} dml_kernel;

enum {
    DML_MAX_RESTS = 3,                                     /* of a dispatch; at most one of them has rests itself, */
    DML_MAX_DEPTH = 3,                                     /* and none of a piece that is so deep */
    DML_MAX_DISPATCHES = DML_MAX_RESTS * DML_MAX_DEPTH + 1 /* of a piece, its rests and theirs included */
};

typedef struct dml_dispatch {
    dml_kernel kernel;
    const char *reason;           /* of the choice, for people */
    dml_cut rests[DML_MAX_RESTS]; /* of the piece, that this dispatch does not move, or not all of: pieces of their own */
    int rest_count;
    dml_span src_range; /* bytes to bind, from the plan's bases */
    dml_span dst_range;
    int32_t constants[DML_CONSTANTS];
    uint32_t groups;      /* workgroups */
    uint32_t table_bytes; /* in use */
    int64_t weight_bytes; /* of a sum's weights */
    dml_sum_weights weights;
    dml_table table;
} dml_dispatch;

/* `src_base` and `dst_base` are the addresses (or, for a device's own memory, offsets) that the plan's offsets count from: a
 * range is bound from the address below it that is a multiple of the traits' alignment. */
void dml_dispatch_choose(const dml_piece *piece, const dml_traits *device, uint64_t src_base, uint64_t dst_base,
                         dml_dispatch *dispatch);

#endif
