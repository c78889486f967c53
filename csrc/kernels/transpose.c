/* Transposes: plans whose destination is contiguous along one axis and whose source along another, far apart on either side.
 *
 * Rows of few items would be gathered from as many places. Instead an invocation moves a tile: one word of several
 * neighbouring rows, of items that are neighbours in the source. That is the pattern of rows with streams that share a window.
 * A row may begin anywhere in a word. What no tile moves, a few columns at its ends and a few rows, is left as rests.
 */
#include "kernels/policy.h"

enum {
    WORD = 16,     /* bytes of a row in a tile; half of it where items are bytes and rows begin anywhere, */
    TILE_ROWS = 8, /* rows of a tile; there twice as many */
    LINE = 64,     /* bytes of a cache line */
    FAR = 256,     /* bytes beyond which a row's items share no window: 8 * DML_MAX_WINDOW_WORDS */
    PAGE = 4096    /* bytes: rows that are a multiple of it apart share cache sets */
};

/* How tiles divide a plan. */
typedef struct division {
    int axis;       /* along which the source is contiguous, and rows lie; a row is along the last */
    int64_t word;   /* bytes of a row in a tile, */
    int64_t items;  /* and items of it */
    int64_t rows;   /* of a tile */
    int64_t phase;  /* bytes from a word's begin to the first row's, */
    int64_t skew;   /* and bytes more for each further row, modulo a word */
    int64_t head;   /* most items of a row before its first whole word */
    int64_t words;  /* of a row */
    int64_t line;   /* words of a row that are written one after the other: a divisor of these */
    int64_t pass;   /* rows to go on with, a multiple of a tile's, */
    int64_t passes; /* so many times */
} division;

static bool find_axis(const dml_plan *plan, int64_t max_streams, division *by)
{
    if (plan->rank < 2 || dml_plan_is_indirect(plan) || plan->item >= WORD || WORD % plan->item != 0)
        return false;
    const dml_axis *last = &plan->axes[plan->rank - 1];
    if (last->dst_stride != plan->item || dml_magnitude(last->src_stride) <= FAR)
        return false;
    by->axis = -1;
    for (int k = 0; k < plan->rank - 1; k++)
        if (plan->axes[k].src_stride == plan->item && plan->axes[k].extent >= TILE_ROWS)
            by->axis = k;
    return by->axis >= 0 && (last->extent > max_streams || plan->axes[by->axis].dst_stride != last->extent * last->dst_stride);
}

/* Finds where in a word the rows of a tile begin. False unless that is the same in all tiles. */
static bool find_phase(const dml_plan *plan, uint32_t dst, division *by)
{
    int64_t stride = plan->axes[by->axis].dst_stride;
    bool aligned = dst % WORD == 0 && stride % WORD == 0, halved = plan->item == 1 && !aligned;
    by->word = halved ? WORD / 2 : WORD;
    by->rows = halved ? TILE_ROWS * 2 : TILE_ROWS;
    by->items = by->word / plan->item;
    by->phase = dst % by->word;
    by->skew = stride % by->word;
    by->head = by->phase > 0 || by->skew > 0 ? by->items - 1 : 0;
    bool alike = (by->phase | by->skew) % plan->item == 0 && plan->axes[by->axis].extent >= by->rows;
    for (int k = 0; k < plan->rank - 1; k++)
        alike = alike && (k == by->axis || plan->axes[k].dst_stride % by->word == 0);
    return alike;
}

/* The largest multiple of `unit` that divides an extent, which is one too, and is at most `most`. */
static int64_t largest_divisor(int64_t extent, int64_t unit, int64_t most)
{
    while (extent % most != 0)
        most -= unit;
    return most;
}

static void divide_row(const dml_plan *plan, int64_t side_by_side, division *by)
{
    int64_t extent = plan->axes[plan->rank - 1].extent;
    by->words = (extent - by->head) / by->items;
    bool whole = plan->axes[by->axis].dst_stride % PAGE == 0 || (by->head > 0 && LINE / plan->item <= side_by_side);
    by->line = LINE / by->word / (whole ? 1 : 2);
    if (by->words * by->items == extent)
        by->line = largest_divisor(by->words, 1, by->line);
    else
        by->words -= by->words % by->line;
}

/* Passes are all of the rows, if these are then not too short; `whole`: in any case, if possible. */
static void divide_rows(const dml_plan *plan, int64_t pass_rows, bool whole, division *by)
{
    int64_t extent = plan->axes[by->axis].extent;
    by->passes = dml_ceil_div(extent, pass_rows);
    by->pass = extent / by->passes - extent / by->passes % by->rows;
    int64_t pass = extent % by->rows == 0 ? largest_divisor(extent, by->rows, pass_rows) : 0;
    if (pass > 0 && (whole || 2 * pass > pass_rows)) {
        by->pass = pass;
        by->passes = extent / pass;
    }
}

static void add_rest(dml_transpose *transpose, int axis, int64_t begin, int64_t end)
{
    if (begin < end)
        transpose->rests[transpose->rest_count++] = (dml_cut){axis, begin, end - begin};
}

/* `count` neighbours at a time. */
static void add_axis(dml_plan *plan, const dml_axis *axis, int64_t extent, int64_t count)
{
    dml_plan_add(plan, extent, count * axis->src_stride, count * axis->dst_stride);
}

/* The order is that in which tiles are moved: first those that write the same half of a cache line, then a pass along the
 * source. Few streams suit the hardware prefetcher. Where rows share cache sets, a line is evicted before its other half is
 * written; there whole lines come first, as where halves would be of two lines. */
static void make_tiles(const dml_plan *plan, const division *by, dml_plan *tiles)
{
    const dml_axis *across = &plan->axes[by->axis], *last = &plan->axes[plan->rank - 1];
    dml_plan_begin(tiles, plan->item);
    tiles->src_offset = plan->src_offset;
    tiles->dst_offset = plan->dst_offset;
    for (int k = 0; k < plan->rank - 1; k++)
        if (k != by->axis)
            add_axis(tiles, &plan->axes[k], plan->axes[k].extent, 1);
    add_axis(tiles, across, by->passes, by->pass);
    add_axis(tiles, last, by->words / by->line, by->line * by->items);
    add_axis(tiles, across, by->pass, 1);
    add_axis(tiles, last, by->line, by->items);
    dml_plan_add(tiles, 1, 0, by->word); /* the row: one element */
    add_axis(tiles, last, by->head > 0 ? 2 * by->items : by->items, 1);
}

bool dml_transpose_find(const dml_piece *piece, const dml_tunables *tunables, uint32_t dst, dml_transpose *transpose,
                        dml_rows *rows)
{
    const dml_plan *plan = &piece->plan;
    division by;
    if (!find_axis(plan, tunables->max_streams, &by) || !find_phase(plan, dst, &by) || plan->rank + 4 > DML_MAX_AXES)
        return false;
    const int last = plan->rank - 1;
    const int64_t extent = plan->axes[last].extent;
    bool worth = extent * plan->item >= tunables->rest_row && dml_plan_bytes(plan) >= tunables->rest_bytes &&
                 piece->depth < DML_MAX_DEPTH;
    divide_row(plan, tunables->side_by_side, &by);
    divide_rows(plan, tunables->pass_rows, !worth, &by);
    add_rest(transpose, last, 0, by.head);
    add_rest(transpose, last, by.words * by.items, extent);
    add_rest(transpose, by.axis, by.passes * by.pass, plan->axes[by.axis].extent);
    if (transpose->rest_count > 0 && !worth) {
        transpose->rest_count = 0;
        return false;
    }
    dml_plan *tiles = &transpose->tiles;
    make_tiles(plan, &by, tiles);
    *rows = (dml_rows){.plan = tiles,
                       .tunables = tunables,
                       .word = (int)by.word,
                       .row = tiles->rank - 2,
                       .inner = {tiles->rank - 1},
                       .inners = 1,
                       .stream = 1,
                       .window_axis = tiles->rank - 4,
                       .per_window = by.rows,
                       .phase = by.phase,
                       .skew = by.skew,
                       .element = tiles->axes[tiles->rank - 1].extent * plan->item,
                       .reach = by.rows * plan->item,
                       .extent = 1,
                       .tile = 1};
    return true;
}
