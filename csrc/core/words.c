/* Words: the constants and the table of shaders/words.comp. */
#include "core/words.h"

#include "core/walk.h"

enum {
    FEW_WORDS = 4,   /* a row of fewer narrow words is better moved by these; and so many times its ratio */
    MOST_RATIO = 15, /* the shader has room for the bytes of as many */
    WORD = 16,       /* bytes */
    TILE_WORDS = 8   /* most that an invocation makes, one after the other */
};

/* Whether the destination is one run of bytes, in the order of the plan's axes. */
static bool is_dense(const dml_plan *plan)
{
    int64_t run = plan->item;
    for (int k = plan->rank - 1; k >= 0; k--) {
        if (plan->axes[k].extent > 1 && plan->axes[k].dst_stride != run)
            return false;
        run *= plan->axes[k].extent;
    }
    return true;
}

/* The innermost axis with several places, if a row can be the plan's items along it; else -1. */
static int row_axis(const dml_plan *plan, int32_t edge)
{
    int k = plan->rank - 1;
    while (k >= 0 && plan->axes[k].extent == 1)
        k--;
    if (k < 0 || plan->item != edge || k == plan->reversed || plan->axes[k].length_stride != 0)
        return -1;
    int64_t step = dml_magnitude(plan->axes[k].src_stride);
    return step >= edge && step <= MOST_RATIO * (int64_t)edge ? k : -1;
}

bool dml_words_find(const dml_plan *plan, int32_t edge, dml_words *words)
{
    if (!is_dense(plan))
        return false;
    *words = (dml_words){.axis = row_axis(plan, edge), .bytes = plan->item, .ratio = 1};
    int64_t enough = FEW_WORDS;
    if (words->axis >= 0) {
        const dml_axis *axis = &plan->axes[words->axis];
        words->bytes = axis->extent * edge;
        words->ratio = axis->src_stride / edge;
        enough += FEW_WORDS * dml_magnitude(words->ratio);
    }
    words->worth = words->bytes >= enough * edge;
    return true;
}

/* Words that an invocation makes one after the other. On a CPU many, each of which goes on with the row that the one before ended in; but where rows
 * are far apart, what the invocations of a work group read at a time is the nearer together the fewer they are. */
static int32_t tile_words(const dml_words *words, const dml_traits *traits, int64_t pitch)
{
    if (!traits->cpu)
        return 1;
    if (2 * pitch <= 5 * words->bytes)
        return TILE_WORDS;
    if (words->bytes < WORD)
        return pitch > 8 * words->bytes ? 1 : 2;
    return pitch > 6 * words->bytes * dml_magnitude(words->ratio) ? TILE_WORDS : TILE_WORDS / 2;
}

void dml_words_choose(const dml_words *words, const dml_plan *plan, const dml_traits *traits, dml_dispatch *dispatch)
{
    int32_t *c = dispatch->constants;
    int axes[DML_MAX_AXES], rank = dml_walk_list(plan, words->axis, axes);
    dml_walk_axes(dispatch, plan, axes, rank);
    c[DML_REVERSED] = plan->reversed >= 0;
    c[DML_STEP] = (int32_t)words->ratio * c[DML_EDGE];
    c[DML_WORDS] = tile_words(words, traits, rank > 0 ? dml_magnitude(plan->axes[axes[rank - 1]].src_stride) : 0);
    int64_t bytes = dml_plan_count(plan) * plan->item, tile = WORD * (int64_t)c[DML_WORDS];
    dispatch->table[DML_TABLE_EXTENT] = (uint32_t)(bytes / words->bytes);
    dispatch->table[DML_TABLE_ITEM] = (uint32_t)words->bytes;
    dispatch->table[DML_TABLE_ITEM_MULTIPLIER] = dml_walk_multiplier((uint32_t)words->bytes);
    dml_walk_share(dispatch, traits, 1, (bytes + tile - 1) / tile, 1);
}
