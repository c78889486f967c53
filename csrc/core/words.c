/* Words: the constants and the table of shaders/words.comp. */
#include "core/words.h"

#include "core/walk.h"

enum {
    FEW_ITEMS =
        4, /* a row of fewer items is better moved by these; as many more for each source byte that a byte of the destination takes */
    MOST_RATIO = 15, /* of these; the shader has room for as many */
    WORD = 16,       /* bytes */
    TILE_WORDS = 8   /* most made by one invocation, one after the other */
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

int64_t dml_words_ratio(const dml_words *words)
{
    return dml_magnitude(words->step) / words->item;
}

/* The innermost axis with several places, if items of the plan that lie along it can be a row's; else -1. */
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
    *words = (dml_words){.axis = row_axis(plan, edge), .item = edge, .step = edge, .bytes = plan->item};
    int64_t enough = FEW_ITEMS;
    if (words->axis >= 0) {
        const dml_axis *axis = &plan->axes[words->axis];
        words->step = (int32_t)axis->src_stride;
        words->bytes = axis->extent * edge;
        enough += FEW_ITEMS * dml_words_ratio(words);
    }
    words->span = words->bytes * dml_words_ratio(words);
    words->worth = words->bytes >= enough * edge;
    return true;
}

/* Words that an invocation makes one after the other. On a CPU many, each of which goes on with the row that the one before ended in; but where rows
 * are far apart, what the invocations of a work group read at a time is the nearer together the fewer they are. */
static int32_t tile_words(const dml_words *words, const dml_traits *traits, int64_t pitch)
{
    bool close = 2 * pitch <= 5 * words->bytes;
    if (!traits->cpu)
        return 1;
    if (words->bytes < WORD && !close)
        return pitch > 8 * words->bytes ? 1 : 2;
    return close || pitch > 6 * words->span ? TILE_WORDS : TILE_WORDS / 2;
}

void dml_words_choose(const dml_words *words, const dml_plan *plan, const dml_traits *traits, dml_dispatch *dispatch)
{
    int32_t *c = dispatch->constants;
    int axes[DML_MAX_AXES], rank = dml_walk_list(plan, words->axis, axes);
    dml_walk_axes(dispatch, plan, axes, rank);
    c[DML_REVERSED] = plan->reversed >= 0;
    c[DML_ITEM] = words->item;
    c[DML_STEP] = words->step;
    c[DML_WORDS] = tile_words(words, traits, rank > 0 ? dml_magnitude(plan->axes[axes[rank - 1]].src_stride) : 0);
    int64_t bytes = dml_plan_count(plan) * plan->item, tile = WORD * (int64_t)c[DML_WORDS];
    dispatch->table[DML_TABLE_EXTENT] = (uint32_t)(bytes / words->bytes);
    dispatch->table[DML_TABLE_ITEM] = (uint32_t)words->bytes;
    dispatch->table[DML_TABLE_ITEM_MULTIPLIER] = dml_walk_multiplier((uint32_t)words->bytes);
    dml_walk_share(dispatch, traits, 1, (bytes + tile - 1) / tile, 1);
}
