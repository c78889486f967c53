#include "core/transpose.h"

enum {
    WORD = 16,       /* bytes of a row in a block */
    LINE = 64,       /* bytes of a cache line */
    FAR = 256,       /* bytes beyond which a row's items share no window: 8 * DML_MAX_WINDOW_WORDS */
    FEW = 8,         /* streams that rows interleave themselves: tunables' max_streams */
    PAGE = 4096,     /* bytes: rows that are a multiple of it apart share cache sets */
    PASS_ROWS = 1536 /* most rows to go on with before the next words of each: the lines written stay in the cache */
};

int dml_transpose_axis(const dml_plan *plan)
{
    if (plan->rank < 2 || plan->reversed >= 0 || plan->item >= WORD || WORD % plan->item != 0)
        return -1;
    const dml_axis *last = &plan->axes[plan->rank - 1];
    bool words = last->dst_stride == plan->item && last->extent * plan->item % WORD == 0;
    int axis = -1;
    for (int k = 0; k < plan->rank - 1; k++) {
        words = words && plan->axes[k].dst_stride % WORD == 0;
        if (plan->axes[k].src_stride == plan->item && plan->axes[k].extent >= DML_BLOCK_ROWS)
            axis = k;
    }
    if (!words || axis < 0 || dml_magnitude(last->src_stride) <= FAR)
        return -1;
    bool interleaved = last->extent <= FEW && plan->axes[axis].dst_stride == last->extent * last->dst_stride;
    return interleaved ? -1 : axis;
}

/* The largest multiple of `unit` that divides an extent, which is one too, and is at most `most`. */
static int64_t part_of(int64_t extent, int64_t unit, int64_t most)
{
    while (extent % most != 0)
        most -= unit;
    return most;
}

/* `step` neighbours at a time. */
static void add_axis(dml_plan *plan, const dml_axis *axis, int64_t extent, int64_t step)
{
    dml_plan_add(plan, extent, step * axis->src_stride, step * axis->dst_stride);
}

/* The order is that in which blocks are moved: first those that write the same half of a cache line, then a pass along the
 * source. Few streams suit the hardware prefetcher. Where rows share cache sets, a line is evicted before its other half is
 * written; there whole lines come first. */
static void make_blocks(const dml_plan *plan, int axis, dml_plan *blocks)
{
    const dml_axis *across = &plan->axes[axis], *last = &plan->axes[plan->rank - 1];
    int64_t streams = WORD / plan->item, words = last->extent / streams;
    int64_t line = part_of(words, 1, across->dst_stride % PAGE == 0 ? LINE / WORD : LINE / WORD / 2);
    int64_t pass = part_of(across->extent, DML_BLOCK_ROWS, PASS_ROWS);
    dml_plan_begin(blocks, plan->item);
    blocks->src_offset = plan->src_offset;
    blocks->dst_offset = plan->dst_offset;
    for (int k = 0; k < plan->rank - 1; k++)
        if (k != axis)
            add_axis(blocks, &plan->axes[k], plan->axes[k].extent, 1);
    add_axis(blocks, across, across->extent / pass, pass);
    add_axis(blocks, last, words / line, line * streams);
    add_axis(blocks, across, pass, 1);
    add_axis(blocks, last, line, streams);
    dml_plan_add(blocks, 1, 0, WORD); /* the row: one element, which is a word */
    add_axis(blocks, last, streams, 1);
}

bool dml_transpose_find(const dml_plan *plan, const dml_tunables *tunables, uint32_t dst, dml_plan *blocks, dml_rows *rows)
{
    int axis = dml_transpose_axis(plan);
    if (axis < 0 || plan->axes[axis].extent % DML_BLOCK_ROWS != 0 || dst % WORD != 0 || plan->rank + 4 > DML_MAX_AXES)
        return false;
    make_blocks(plan, axis, blocks);
    *rows = (dml_rows){.plan = blocks,
                       .tunables = tunables,
                       .word = WORD,
                       .row = blocks->rank - 2,
                       .inner = {blocks->rank - 1},
                       .inners = 1,
                       .stream = 1,
                       .window_axis = blocks->rank - 4,
                       .per_window = DML_BLOCK_ROWS,
                       .element = WORD,
                       .reach = DML_BLOCK_ROWS * plan->item,
                       .extent = 1,
                       .tile = 1};
    return true;
}
