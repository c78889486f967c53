#include "core/schedule.h"

#include <string.h>

enum { CACHE_LINE = 64 };

/* See divide() in shaders/plan.glsl. */
static uint32_t multiplier_of(uint32_t d)
{
    return d < 2 ? UINT32_MAX : UINT32_MAX / d + (UINT32_MAX % d == d - 1); /* 2**32 / d */
}

/* --- the table's axes ------------------------------------------------------------------------------------------ */

/* Lists the axes of more than one index, but for two (or -1). */
static int list_axes(const dml_plan *plan, int but, int or_but, int *axes)
{
    int count = 0;
    for (int k = 0; k < plan->rank; k++)
        if (k != but && k != or_but && plan->axes[k].extent > 1)
            axes[count++] = k;
    return count;
}

static void put_axis(dml_table *table, int k, const dml_axis *axis)
{
    table->axes[k] = (dml_table_axis){.extent = (uint32_t)axis->extent,
                                      .multiplier = multiplier_of((uint32_t)axis->extent),
                                      .src_stride = (uint32_t)axis->src_stride,
                                      .dst_stride = (uint32_t)axis->dst_stride,
                                      .entry_stride = (uint32_t)axis->entry_stride};
}

/* Puts these axes of the plan into the table, the last of them as axis 0. */
static void put_axes(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int rank)
{
    dml_table *table = &dispatch->table;
    for (int k = 0; k < rank; k++) {
        int axis = axes[rank - 1 - k];
        put_axis(table, k, &plan->axes[axis]);
        if (axis == plan->reversed)
            table->reversed_axis = (uint32_t)k;
    }
    table->rank = (uint32_t)rank;
    for (; rank < DML_TABLE_MIN_AXES; rank++)
        put_axis(table, rank, &(dml_axis){.extent = 1});
    dispatch->table_bytes = (uint32_t)(offsetof(dml_table, axes) + (size_t)rank * sizeof table->axes[0]);
}

/* Moves the i-th axis of a list behind the others. */
static void move_last(int *axes, int count, int i)
{
    int last = axes[i];
    memmove(&axes[i], &axes[i + 1], (size_t)(count - 1 - i) * sizeof axes[0]);
    axes[count - 1] = last;
}

/* Likewise the one to walk along: the innermost that is long, or else the longest. */
static void move_walk_last(const dml_plan *plan, const dml_tunables *tunables, int *axes, int count)
{
    int walk = count - 1;
    for (int i = count - 1; i >= 0 && plan->axes[axes[walk]].extent < tunables->long_walk; i--)
        if (plan->axes[axes[i]].extent > plan->axes[axes[walk]].extent)
            walk = i;
    if (count > 0)
        move_last(axes, count, walk);
}

/* Whether an axis fills gaps that the walk leaves on either side: memory that is read or written without gaps needs one pass
 * instead of several. */
static bool fills_gaps(const dml_axis *axis, const dml_axis *walk, const dml_tunables *tunables)
{
    return (axis->extent <= tunables->src_interleave &&
            axis->extent * dml_magnitude(axis->src_stride) <= dml_magnitude(walk->src_stride)) ||
           (axis->extent <= tunables->dst_interleave &&
            axis->extent * dml_magnitude(axis->dst_stride) <= dml_magnitude(walk->dst_stride));
}

static void order_rows(const dml_plan *plan, const dml_tunables *tunables, int *axes, int count)
{
    bool in_order = count < 2 || dml_magnitude(plan->axes[axes[count - 1]].src_stride) <=
                                     dml_magnitude(plan->axes[axes[count - 2]].src_stride);
    if (!tunables->source_order || !in_order)
        move_walk_last(plan, tunables, axes, count);
    int walk = count - 1;
    for (int i = count - 2; i >= 0; i--) {
        if (fills_gaps(&plan->axes[axes[i]], &plan->axes[axes[walk]], tunables)) {
            move_last(axes, walk + 1, i); /* behind the walk, in front of those that went there before */
            walk--;
        }
    }
}

/* --- strips and chunks ------------------------------------------------------------------------------------------ */

/* Shares out rows of so many tiles each; a workgroup does group_size tiles at a time, of `side` rows side by side. Many
 * rows: several to a chunk. Few: several chunks to a row. */
static void share_out(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t tiles, int64_t side)
{
    int64_t chunks = traits->tunables.chunks, groups = traits->max_groups;
    int64_t strips = dml_ceil_div(chunks, rows), unit = 4 * (int64_t)traits->group_size;
    int64_t strip = dml_ceil_div(dml_ceil_div(tiles, strips), unit) * unit;
    strips = dml_ceil_div(tiles, strip);
    int64_t total = rows * strips, most = traits->tunables.dynamic || chunks < groups ? chunks : groups;
    int64_t chunk = dml_ceil_div(dml_ceil_div(total, most), side) * side;
    chunks = dml_ceil_div(total, chunk);
    dispatch->groups = (uint32_t)(chunks < groups ? chunks : groups);
    dml_table *table = &dispatch->table;
    table->chunks = (uint32_t)chunks;
    table->chunk = (uint32_t)chunk;
    table->total = (uint32_t)total;
    table->rows = (uint32_t)rows;
    table->rows_multiplier = multiplier_of((uint32_t)rows);
    table->strip = (uint32_t)strip;
}

/* --- rows per workgroup, and software prefetch ------------------------------------------------------------------- */

/* What is read of rows that follow each other, in source bytes. */
typedef struct reads {
    int64_t count;    /* rows */
    int64_t tiles;    /* of each */
    int64_t span;     /* from the first to the last that is read of one */
    int64_t pitch;    /* from one to the next */
    bool alternating; /* rows advance in one direction, and are read in the other */
    bool streams;     /* a row is read in several streams */
    bool even;        /* reading begins at equal distances; else with the first whole word of the destination */
} reads;

/* Of rows that follow each other along the axis `last`. */
static reads reads_of(const dml_rows *rows, int64_t count, int last, bool even)
{
    const dml_plan *plan = rows->plan;
    bool down = rows->row >= 0 && plan->axes[rows->row].src_stride < 0, rows_down = plan->axes[last].src_stride < 0;
    bool reversed = plan->reversed >= 0 && (plan->reversed == rows->row || plan->reversed == last);
    return (reads){.count = count,
                   .tiles = dml_ceil_div(rows->extent, rows->tile),
                   .span = (rows->extent - 1) * dml_magnitude(rows->stride) + rows->reach,
                   .pitch = dml_magnitude(dml_rows_outer_axis(rows, last).src_stride),
                   .alternating = down != rows_down || reversed,
                   .streams = rows->stream != 0,
                   .even = even};
}

bool dml_schedule_is_remote(const dml_tunables *tunables, int64_t pitch, int64_t span, bool even)
{
    return pitch > tunables->remote_pitch * span && (!even || span > tunables->even_lines * CACHE_LINE);
}

static int64_t rows_per_group(const dml_traits *traits, const reads *r)
{
    const dml_tunables *tunables = &traits->tunables;
    int64_t group = traits->group_size, side = 1;
    if (tunables->overlap_misses) {
        bool gaps = !r->streams && r->pitch >= 2 * r->span;
        bool at_once = r->span >= tunables->remote_row && r->tiles <= group; /* all misses of a row at once */
        bool far = (!at_once && dml_schedule_is_remote(tunables, r->pitch, r->span, r->even)) || r->tiles >= 2 * group;
        return r->count >= group * tunables->chunks && gaps && far ? group : 1;
    }
    while (r->count / (2 * side) >= tunables->chunks / tunables->sparse_chunks && 2 * side * r->tiles <= group &&
           group % (2 * side) == 0)
        side *= 2;
    return side;
}

/* Source bytes behind each row to prefetch: the gap before the next row, or where directions alternate, all up to that row's
 * end. 0: none. */
static int64_t prefetch_bytes(const dml_tunables *tunables, const reads *r)
{
    int64_t gap = r->pitch - r->span;
    bool pays = r->pitch > tunables->prefetched && r->pitch <= tunables->prefetch_pitch * r->span &&
                r->pitch <= tunables->cached && gap <= tunables->max_gap;
    if (!pays || r->count < tunables->chunks || r->streams || !(r->alternating || gap >= tunables->min_gap))
        return 0;
    return r->alternating ? r->pitch : gap;
}

/* --- kernels --------------------------------------------------------------------------------------------------- */

void dml_schedule_rows(const dml_rows *rows, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = rows->plan;
    dml_table *table = &dispatch->table;
    int axes[DML_MAX_AXES], rank = 0;
    int64_t count = 1, side = 1;
    dml_plan outer;
    dml_plan_copy(&outer, plan);
    for (int k = 0; k < plan->rank; k++) {
        outer.axes[k] = dml_rows_outer_axis(rows, k);
        if (dml_rows_is_outer(rows, k)) {
            axes[rank++] = k;
            count *= outer.axes[k].extent;
        }
    }
    if (rows->extent > 1) /* else they are blocks of a transpose, in order */
        order_rows(&outer, &traits->tunables, axes, rank);
    put_axes(dispatch, &outer, axes, rank);
    table->rows_extent = (uint32_t)rows->extent;
    if (rows->stream)
        table->rows_stream_stride = (uint32_t)plan->axes[rows->inner[rows->stream - 1]].src_stride;
    if (rows->window_axis >= 0)
        table->rows_window_dst_stride = (uint32_t)plan->axes[rows->window_axis].dst_stride;
    if (rank > 0) {
        reads r = reads_of(rows, count, axes[rank - 1], dispatch->constants[DML_SCALAR] == 0);
        bool filled = dml_rows_fill_gaps(rows);
        bool one = rows->extent == 1 || (filled && r.even && r.tiles == 1); /* for each invocation */
        int64_t bytes = one || plan->gathered > 0 || (filled && !r.alternating) ? 0 : prefetch_bytes(&traits->tunables, &r);
        if (one)
            side = traits->group_size;
        else if (bytes == 0)
            side = rows_per_group(traits, &r);
        table->rows_prefetch_lines = (uint32_t)dml_ceil_div(bytes, CACHE_LINE);
    }
    dispatch->constants[DML_ROWS_SCHEDULE] = table->rows_prefetch_lines > 0 ? 0 : (int32_t)side;
    bool forwards = rows->stride > 0 && dispatch->constants[DML_REVERSED] != DML_REVERSED_ROW;
    if (forwards && table->rows_prefetch_lines == 0 && rows->tile * rows->stride <= traits->tunables.ahead_bytes)
        dispatch->constants[DML_ROWS_AHEAD] = traits->tunables.prefetch_ahead;
    int64_t tiles = rows->extent / rows->tile + 2; /* at most: either body of a reversed row may end with one of its own */
    share_out(dispatch, traits, count, tiles, side);
}

void dml_schedule_words(const dml_words *words, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = words->plan;
    int axes[DML_MAX_AXES], rank = list_axes(plan, words->axis, -1, axes);
    put_axes(dispatch, plan, axes, rank);
    int64_t bytes = dml_plan_bytes(plan), tile = 16 * (int64_t)words->tile;
    dispatch->table.words_rows = (uint32_t)(bytes / words->row);
    dispatch->table.words_row = (uint32_t)words->row;
    dispatch->table.words_row_multiplier = multiplier_of((uint32_t)words->row);
    share_out(dispatch, traits, 1, dml_ceil_div(bytes, tile), 1);
}

void dml_schedule_blocks(const dml_blocks *blocks, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &blocks->plan;
    int axes[DML_MAX_AXES];
    for (int k = 0; k < plan->rank; k++)
        axes[k] = k;
    put_axes(dispatch, plan, axes, plan->rank);
    dml_table *table = &dispatch->table;
    int64_t words = dml_ceil_div(blocks->row, 8), tiles = dml_ceil_div(words, traits->tunables.blocks_tile);
    int64_t bytes = dml_plan_bytes(plan), apart = dml_blocks_axis(blocks, DML_MAX_CHAIN)->extent * blocks->row;
    int64_t sides = bytes / apart / blocks->inside * blocks->sides;
    uint64_t ends = blocks->sides > 1 ? (uint64_t)(blocks->rows * blocks->row) : 0;
    bool edges = (table->dst_offset | (uint64_t)apart | ends) % 8 != 0;
    table->blocks_row = (uint32_t)blocks->row;
    table->blocks_words = (uint32_t)dml_ceil_div(words, tiles);
    table->blocks_tiles = (uint32_t)tiles;
    table->blocks_tiles_multiplier = multiplier_of((uint32_t)tiles);
    table->blocks_sides = (uint32_t)blocks->sides;
    table->blocks_sides_multiplier = multiplier_of((uint32_t)blocks->sides);
    table->blocks_count = (uint32_t)(sides * tiles);
    table->blocks_edges = edges ? (uint32_t)(sides + 1) : 0;
    table->blocks_bytes = (uint32_t)bytes;
    share_out(dispatch, traits, 1, (int64_t)table->blocks_count + table->blocks_edges, 1);
}

void dml_schedule_elements(const dml_plan *plan, const dml_traits *traits, dml_dispatch *dispatch)
{
    int axes[DML_MAX_AXES + 1], count = list_axes(plan, -1, -1, axes);
    if (count == 0)
        axes[count++] = plan->rank - 1;
    move_walk_last(plan, &traits->tunables, axes, count);
    put_axes(dispatch, plan, axes, count);
    int64_t extent = plan->axes[axes[count - 1]].extent;
    dispatch->table.elements_extent = (uint32_t)extent;
    share_out(dispatch, traits, dml_plan_count(plan) / extent, extent, 1);
}

void dml_schedule_tables(const dml_lookups *lookups, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &lookups->plan;
    int axes[DML_MAX_AXES], rank = list_axes(plan, lookups->side, lookups->run, axes);
    if (lookups->run < 0)
        move_walk_last(plan, &traits->tunables, axes, rank);
    if (lookups->side >= 0)
        axes[rank++] = lookups->side;
    if (lookups->run >= 0)
        axes[rank++] = lookups->run;
    put_axes(dispatch, plan, axes, rank);
    dml_table *table = &dispatch->table;
    int64_t extent = table->axes[0].extent, tiles = dml_ceil_div(extent + lookups->before, lookups->tile);
    int64_t elements = dml_lookups_beside(lookups) * extent, count = dml_plan_count(plan) / elements * tiles;
    table->tables_elements = (uint32_t)elements;
    table->tables_tiles = (uint32_t)tiles;
    table->tables_tiles_multiplier = multiplier_of((uint32_t)tiles);
    table->tables_count = (uint32_t)count;
    share_out(dispatch, traits, 1, count, 1);
}
