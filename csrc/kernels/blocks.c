#include "kernels/blocks.h"

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

/* An axis in front of `outer` whose indices are neighbours in the source and lie between those of `outer`, several of which are
 * a word; or -1. */
static int find_inside(const dml_plan *plan, int outer)
{
    int k = outer - 1;
    while (k >= 0 && plan->axes[k].src_stride != plan->item)
        k--;
    bool found = k >= 0 && plan->axes[outer].src_stride == plan->axes[k].extent * plan->item &&
                 plan->axes[outer].src_stride < WORD && WORD % plan->axes[outer].src_stride == 0 &&
                 plan->axes[k].dst_stride % WORD == 0;
    return found ? k : -1;
}

/* How many axes are a row: those inside the axis whose neighbours are contiguous in the source, if they are not too many, and
 * their row is at least a word; or inside two such axes, if rows are whole words. Else as many as there may be. */
static int chain_of(dml_plan *plan, uint32_t dst, dml_blocks *blocks)
{
    int most = plan->rank < DML_MAX_CHAIN ? plan->rank : DML_MAX_CHAIN;
    blocks->inside = blocks->rows = 1;
    for (int chain = 1; chain <= most && chain < plan->rank; chain++) {
        int outer = plan->rank - 1 - chain;
        dml_axis *axis = &plan->axes[outer];
        int inside = (axis->dst_stride | dst) % WORD == 0 ? find_inside(plan, outer) : -1;
        if (inside >= 0) {
            dml_axis moved = plan->axes[inside];
            for (int k = inside; k < outer - 1; k++)
                plan->axes[k] = plan->axes[k + 1];
            plan->axes[outer - 1] = moved;
            blocks->inside = moved.extent;
            blocks->rows = moved.extent * dml_smaller(axis->extent, WORD / axis->src_stride);
            return chain;
        }
        if (axis->src_stride == plan->item && axis->dst_stride >= WORD) {
            blocks->rows = dml_smaller(axis->extent, WORD / plan->item);
            return chain;
        }
    }
    return most;
}

/* Puts so many axes of one index in front of axis `at`. */
static void insert(dml_plan *plan, int at, int count)
{
    for (int k = plan->rank - 1; k >= at; k--)
        plan->axes[k + count] = plan->axes[k];
    for (int k = at; k < at + count; k++)
        plan->axes[k] = (dml_axis){.extent = 1};
    plan->rank += count;
}

/* The axes that the kernel expects, whether the plan has them or not. */
static void pad(dml_plan *plan, int chain, bool has_inside)
{
    insert(plan, plan->rank - chain, DML_MAX_CHAIN - chain);
    if (plan->rank == DML_MAX_CHAIN)
        insert(plan, 0, 1);
    if (!has_inside)
        insert(plan, plan->rank - DML_MAX_CHAIN - 1, 1);
}

bool dml_blocks_find(const dml_plan *plan, int32_t scalar, uint32_t src, uint32_t dst, dml_blocks *blocks)
{
    if (dml_plan_is_indirect(plan) || !dml_plan_is_dense(plan) || plan->rank + DML_MAX_CHAIN + 2 > DML_MAX_AXES)
        return false;
    *blocks = (dml_blocks){.scalar = scalar};
    dml_plan *own = &blocks->plan;
    take_scalars(own, plan, scalar);
    if (own->rank == 0)
        return false;
    blocks->chain = chain_of(own, dst, blocks);
    pad(own, blocks->chain, blocks->inside > 1);
    blocks->row = scalar;
    for (int k = 0; k < DML_MAX_CHAIN; k++)
        blocks->row *= dml_blocks_axis(blocks, k)->extent;
    if (blocks->row < WORD)
        return false;
    const dml_axis *across = dml_blocks_axis(blocks, DML_MAX_CHAIN), *inside = dml_blocks_axis(blocks, DML_MAX_CHAIN + 1);
    const int64_t side = blocks->rows / blocks->inside;
    blocks->sides = dml_ceil_div(across->extent, side);
    blocks->phased = (dst | (uint64_t)blocks->row) % WORD != 0;
    uint64_t sources = src;
    for (int k = 0; k < own->rank; k++)
        if (dml_blocks_axis(blocks, k) != across && dml_blocks_axis(blocks, k) != inside)
            sources |= (uint64_t)dml_blocks_axis(blocks, k)->src_stride;
    if (blocks->sides > 1)
        sources |= (uint64_t)(side * across->src_stride) | (uint64_t)((across->extent - side) * across->src_stride);
    blocks->aligned = (int32_t)dml_divisor(sources, WORD);
    return true;
}
