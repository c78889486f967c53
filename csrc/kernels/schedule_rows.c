#include "kernels/dispatch_table.h"
#include "kernels/schedule.h"

enum { CACHE_LINE = 64 };

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
        dml_table_walk_last(plan, tunables, axes, count);
    int walk = count - 1;
    for (int i = count - 2; i >= 0; i--) {
        if (fills_gaps(&plan->axes[axes[i]], &plan->axes[axes[walk]], tunables)) {
            dml_table_move_last(axes, walk + 1, i); /* behind the walk, in front of those that went there before */
            walk--;
        }
    }
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
    if (rows->extent > 1) /* else they are tiles of a transpose, in order */
        order_rows(&outer, &traits->tunables, axes, rank);
    dml_table_put(dispatch, &outer, axes, rank);
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
    bool forwards = rows->stride > 0 && dispatch->constants[DML_ENTRIES_WAY] != DML_ENTRIES_ROW;
    if (forwards && table->rows_prefetch_lines == 0 && rows->tile * rows->stride <= traits->tunables.ahead_bytes)
        dispatch->constants[DML_ROWS_AHEAD] = traits->tunables.prefetch_ahead;
    int64_t tiles = rows->extent / rows->tile + 2; /* at most: either body of a reversed row may end with one of its own */
    dml_table_share_out(dispatch, traits, count, tiles, side);
}
