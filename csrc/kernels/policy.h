/* Policy: which of the ways that a piece can be moved is taken, by an ordered table of rules. Never looks at which operator
 * made the piece. */
#ifndef DML_KERNELS_POLICY_H
#define DML_KERNELS_POLICY_H

#include "kernels/blocks.h"
#include "kernels/dispatch.h"
#include "kernels/rows.h"
#include "plan/piece.h"

typedef struct dml_transpose {
    dml_plan tiles;               /* the plan that the rows refer to */
    dml_cut rests[DML_MAX_RESTS]; /* of the plan: what tiles do not move, or not all of */
    int rest_count;
} dml_transpose;

/* Makes tiles of a piece with a simplified plan, whose destination begins at `dst` in its range. False if it is no transpose,
 * or if rests are not worth their dispatches. */
bool dml_transpose_find(const dml_piece *piece, const dml_tunables *tunables, uint32_t dst, dml_transpose *transpose,
                        dml_rows *rows);

typedef struct dml_policy {
    /* Given: */
    const dml_piece *piece;
    const dml_traits *traits;
    int32_t scalar; /* bytes of the largest scalar that divides all addresses, strides and the item */
    uint32_t src;   /* where source and destination begin in their ranges */
    uint32_t dst;
    /* Decided: */
    bool little; /* not worth a pipeline of its own */
    dml_kernel kernel;
    const char *reason;
    dml_rows rows; /* if the kernel is DML_KERNEL_ROWS; of `piece`, or of the tiles of */
    dml_transpose transpose;
    dml_blocks blocks; /* if the kernel is DML_KERNEL_BLOCKS */
    bool has_words;    /* whether words are possible, and */
    dml_words words;
} dml_policy;

void dml_policy_decide(dml_policy *policy);

#endif
