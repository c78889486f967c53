#include "core/blocks.h"

#include "abi.h"

enum { WORD = 8 };

/* The plan's axes of more than one index, and one for the scalars of an item. */
static void take_scalars(dml_plan *to, const dml_plan *plan, int32_t scalar)
{
    dml_plan_begin(to, scalar);
    to->src_offset = plan->src_offset;
    to->dst_offset = plan->dst_offset;
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].extent > 1)
            to->axes[to->rank++] = plan->axes[k];
    if (plan->item > scalar)
        dml_plan_add(to, plan->item / scalar, scalar, scalar);
}

/* How many axes are a row: those inside the axis whose neighbours are contiguous in the source, if they are not too many, and
 * their row is at least a word. Else as many as there may be. */
static int chain_of(const dml_plan *plan, int64_t *rows)
{
    int most = plan->rank < DML_MAX_CHAIN ? plan->rank : DML_MAX_CHAIN;
    for (int chain = 1; chain <= most && chain < plan->rank; chain++) {
        const dml_axis *axis = &plan->axes[plan->rank - 1 - chain];
        if (axis->src_stride == plan->item && axis->dst_stride >= WORD) {
            *rows = axis->extent < WORD / plan->item ? axis->extent : WORD / plan->item;
            return chain;
        }
    }
    *rows = 1;
    return most;
}

/* Puts axes of one index behind those of a row, and in front of all. */
static void pad(dml_plan *plan, int chain)
{
    int missing = DML_MAX_CHAIN - chain, outer = plan->rank - chain;
    for (int k = plan->rank - 1; k >= outer; k--)
        plan->axes[k + missing] = plan->axes[k];
    for (int k = outer; k < outer + missing; k++)
        plan->axes[k] = (dml_axis){.extent = 1};
    plan->rank += missing;
    if (outer > 0)
        return;
    for (int k = plan->rank; k > 0; k--)
        plan->axes[k] = plan->axes[k - 1];
    plan->axes[0] = (dml_axis){.extent = 1};
    plan->rank++;
}

bool dml_blocks_find(const dml_plan *plan, int32_t scalar, uint32_t src, uint32_t dst, dml_blocks *blocks)
{
    if (plan->reversed >= 0 || !dml_plan_is_dense(plan) || plan->rank + DML_MAX_CHAIN + 1 > DML_MAX_AXES)
        return false;
    *blocks = (dml_blocks){.scalar = scalar};
    dml_plan *own = &blocks->plan;
    take_scalars(own, plan, scalar);
    if (own->rank == 0)
        return false;
    blocks->chain = chain_of(own, &blocks->rows);
    pad(own, blocks->chain);
    blocks->row = scalar;
    for (int k = 0; k < DML_MAX_CHAIN; k++)
        blocks->row *= dml_blocks_axis(blocks, k)->extent;
    if (blocks->row < WORD)
        return false;
    const dml_axis *across = dml_blocks_axis(blocks, DML_MAX_CHAIN);
    blocks->sides = (across->extent + blocks->rows - 1) / blocks->rows;
    blocks->phased = (dst | (uint64_t)blocks->row) % WORD != 0;
    uint64_t sources = src;
    for (int k = 0; k < own->rank; k++)
        if (dml_blocks_axis(blocks, k) != across)
            sources |= (uint64_t)dml_blocks_axis(blocks, k)->src_stride;
    if (blocks->sides > 1)
        sources |=
            (uint64_t)(blocks->rows * across->src_stride) | (uint64_t)((across->extent - blocks->rows) * across->src_stride);
    blocks->aligned = (int32_t)dml_divisor(sources, WORD);
    return true;
}
