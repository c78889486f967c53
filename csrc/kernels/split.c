#include "kernels/walk.h"

#include <string.h>

#include "plan/taps.h"

enum { MOST_COPIED = 16 << 20 }; /* bytes of the entries of a piece which the host sees, and copies for the device */

/* Indices of a tile, at most so many. Tiles are about equal, and start at multiples of 64. */
static int64_t tile_extent(int64_t extent, int64_t most)
{
    if (extent <= most)
        return extent;
    int64_t tile = dml_ceil_div(extent, dml_ceil_div(extent, most)), rounded = dml_ceil_div(tile, 64) * 64;
    if (rounded <= most)
        return rounded;
    return most >= 64 ? most / 64 * 64 : tile;
}

/* Indices of an axis; of one behind them that is gathered; or else on the source side of the reversed axis. */
static int64_t extent_of(const dml_plan *plan, int k)
{
    if (k < plan->rank)
        return plan->axes[k].extent;
    if (plan->gathered > 0)
        return plan->gathers[k - plan->rank].count;
    return plan->reversed < 0 ? 1 : plan->axes[plan->reversed].extent;
}

/* Bytes between neighbours on an axis, as one side counts them; gathered axes come behind the others. */
static int64_t side_stride(const dml_plan *plan, int k, dml_side side)
{
    if (k >= plan->rank)
        return side == DML_SRC ? dml_magnitude(plan->gathers[k - plan->rank].src_stride) : 0;
    return dml_magnitude(dml_side_stride(&plan->axes[k], side));
}

/* Bytes from the first to the last element of a tile on an axis. */
static int64_t side_reach(const dml_split *split, int k, dml_side side)
{
    return (split->tile[k] - 1) * side_stride(&split->plan, k, side);
}

/* The axis that reaches furthest on one side; the reversed axis only if no other does. */
static int widest_axis(const dml_split *split, dml_side side)
{
    const dml_plan *plan = &split->plan;
    int widest = plan->reversed;
    int64_t reach = 0;
    for (int k = 0; k < plan->rank; k++) {
        if (k != plan->reversed && side_reach(split, k, side) > reach) {
            widest = k;
            reach = side_reach(split, k, side);
        }
    }
    return widest;
}

/* Cuts an axis until its reach is within `room`. Gives the reduction. */
static int64_t cut_axis(dml_split *split, int k, dml_side side, int64_t room)
{
    const int64_t before = side_reach(split, k, side), stride = side_stride(&split->plan, k, side);
    split->tile[k] = tile_extent(split->tile[k], room < 0 || stride == 0 ? 1 : room / stride + 1);
    return before - side_reach(split, k, side);
}

/* Gathered axes stay whole if they leave the others an eighth of the limit; else they get half. Gives the reduction. */
static int64_t fit_gathered(dml_split *split, int64_t limit)
{
    const int64_t item = dml_side_item(&split->plan, DML_SRC), room = dml_smaller(limit / 2, limit - item);
    const int first = split->plan.rank, end = first + split->plan.gathered;
    int64_t reach = 0, reduction = 0;
    for (int k = first; k < end; k++)
        reach += side_reach(split, k, DML_SRC);
    if (reach <= limit - limit / 8 - item)
        return 0;
    for (int k = first; k < end; k++) {
        int64_t own = side_reach(split, k, DML_SRC), left = room - (reach - reduction - own);
        if (own > dml_larger(left, 0))
            reduction += cut_axis(split, k, DML_SRC, left);
    }
    return reduction;
}

/* Cuts axes until one side's span is within the limit. A tile of the reversed axis may read all of its source, so this axis
 * stays whole if it leaves the others an eighth of the limit. Else it gets half at first, and finally what the others leave. */
static void fit_side(dml_split *split, int64_t limit, dml_side side)
{
    const dml_plan *plan = &split->plan;
    int64_t item = dml_side_item(plan, side), span = item;
    for (int k = 0; k < plan->rank + plan->gathered; k++)
        span += side_reach(split, k, side);
    if (side == DML_SRC)
        span += dml_taps_reach(split);
    if (side == DML_SRC && span > limit)
        span -= fit_gathered(split, limit) + dml_taps_fit(split, limit);

    int reversed = plan->reversed;
    int64_t reach = reversed < 0 ? 0 : side_reach(split, reversed, side);
    bool wide = span > limit && reach > 0 && reach > limit - limit / 8 - item;
    int64_t extent = wide ? split->tile[reversed] : 0;
    if (wide)
        span -= cut_axis(split, reversed, side, limit / 2 < limit - item ? limit / 2 : limit - item);
    for (int k; span > limit && (k = widest_axis(split, side)) >= 0;) /* -1: what is left are the taps of one sum */
        span -= cut_axis(split, k, side, limit - (span - side_reach(split, k, side)));
    if (wide) {
        span -= side_reach(split, reversed, side);
        split->tile[reversed] = extent;
        cut_axis(split, reversed, side, limit - span);
    }
}

static void fit_ranges(dml_split *split, const dml_limits *limits, int64_t limit)
{
    if (!limits->pack_src)
        fit_side(split, limit, DML_SRC);
    if (!limits->pack_dst)
        fit_side(split, limit, DML_DST);
}

/* Whether pieces hardly overlap on one side: memory that several pieces span is read or written several times. */
static bool is_apart(const dml_split *split, dml_side side)
{
    const dml_plan *plan = &split->plan;
    double pieces = 1; /* the last of an axis counts as a fraction */
    int64_t span = dml_side_item(plan, side), whole = span;
    for (int k = 0; k < plan->rank + plan->gathered; k++) {
        int64_t extent = extent_of(plan, k);
        if ((k == plan->reversed || k >= plan->rank) && split->tile[k] < extent)
            return false;
        pieces *= (double)extent / (double)split->tile[k];
        span += side_reach(split, k, side);
        whole += (extent - 1) * side_stride(plan, k, side);
    }
    return pieces * (double)span <= 1.125 * (double)whole;
}

/* Cuts to what one binding holds, if pieces then do not overlap. */
static void fit_bindings(dml_split *split, const dml_limits *limits)
{
    int64_t fewest[DML_MAX_AXES + DML_MAX_RANK];
    const size_t bytes = (size_t)(split->plan.rank + split->plan.gathered) * sizeof fewest[0];
    memcpy(fewest, split->tile, bytes);
    fit_ranges(split, limits, limits->binding);
    if (!is_apart(split, DML_SRC) || !is_apart(split, DML_DST))
        memcpy(split->tile, fewest, bytes);
}

/* Bytes of one side of a tile when packed. */
static int64_t packed_bytes(dml_split *split, dml_side side)
{
    return dml_pack_choose(&split->plan, split->tile, side, split->kept[side]);
}

static int64_t half_of(int64_t extent)
{
    return tile_extent(extent, dml_ceil_div(extent, 2));
}

/* The same if an axis were halved. */
static int64_t bytes_if_halved(dml_split *split, int k, dml_side side)
{
    int64_t extent = split->tile[k];
    split->tile[k] = half_of(extent);
    int64_t bytes = packed_bytes(split, side);
    split->tile[k] = extent;
    return bytes;
}

/* Which axis to halve: of those that save a quarter of one side (where gaps stay, some save nothing), the one that reaches
 * furthest on both sides, so that neighbours stay together. If there is none: the reversed axis, or the one that saves most. */
static int axis_to_halve(dml_split *split, dml_side side, int64_t bytes)
{
    const dml_plan *plan = &split->plan;
    int broadest = -1, other = -1;
    int64_t most = -1, least = bytes;
    for (int k = 0; k < plan->rank; k++) {
        if (k == plan->reversed || split->tile[k] == 1)
            continue;
        int64_t src = side_reach(split, k, DML_SRC), dst = side_reach(split, k, DML_DST), both = src < dst ? src : dst;
        int64_t left = bytes_if_halved(split, k, side);
        if (left <= bytes - bytes / 4 && both > most) {
            broadest = k;
            most = both;
        }
        if (left < least) {
            other = k;
            least = left;
        }
    }
    if (broadest >= 0)
        return broadest;
    bool reversed = plan->reversed >= 0 && split->tile[plan->reversed] > 1;
    return reversed && (other < 0 || bytes_if_halved(split, plan->reversed, side) < bytes) ? plan->reversed : other;
}

/* True if anything was cut. Cutting for one side may make the other keep fewer strides, and become larger where these
 * overlap. */
static bool fit_packed(dml_split *split, int64_t limit, dml_side side)
{
    bool cut = false;
    for (int64_t bytes; (bytes = packed_bytes(split, side)) > limit; cut = true) {
        int k = axis_to_halve(split, side, bytes);
        split->tile[k] = half_of(split->tile[k]);
    }
    return cut;
}

dml_limits dml_split_limits(const dml_traits *traits)
{
    int64_t binding = traits->binding - traits->alignment; /* a range may begin early by less than the alignment */
    return (dml_limits){.range = traits->range, .binding = binding < traits->range ? binding : traits->range};
}

void dml_split_begin(dml_split *split, const dml_plan *plan, const dml_limits *limits)
{
    dml_plan_copy(&split->plan, plan);
    dml_plan *whole = &split->plan;
    if (whole->item > (limits->pack_src || limits->pack_dst ? limits->chunk : limits->range))
        dml_plan_divide_item(whole, 16);
    for (int k = 0; k < whole->rank + whole->gathered; k++) {
        split->tile[k] = extent_of(whole, k);
        split->begin[k] = 0;
    }
    fit_ranges(split, limits, limits->range);
    if (whole->item <= limits->binding)
        fit_bindings(split, limits);
    if (dml_plan_moves(whole)) /* tables and weights are bound as a whole: no device binds as little */
        fit_side(split, whole->entries.data ? dml_smaller(limits->binding, MOST_COPIED) : limits->binding, DML_ENTRIES);
    bool cut;
    do {
        cut = limits->pack_src && fit_packed(split, limits->chunk, DML_SRC);
        cut = (limits->pack_dst && fit_packed(split, limits->chunk, DML_DST)) || cut;
    } while (cut);
    if (whole->gathered == 0)
        split->tile[whole->rank] = whole->reversed < 0 ? 1 : split->tile[whole->reversed];
    split->begin[whole->rank] = 0;
    split->done = false;
}

/* To the next piece: an odometer, the last axis fastest. */
static void advance(dml_split *split)
{
    const dml_plan *whole = &split->plan;
    int k = whole->gathered > 0 ? whole->rank + whole->gathered - 1 : whole->rank;
    for (; k >= 0; k--) {
        split->begin[k] += split->tile[k];
        if (split->begin[k] < extent_of(whole, k))
            break;
        split->begin[k] = 0;
    }
    split->done = k < 0;
}

static bool next_piece(dml_split *split, dml_piece *piece)
{
    const dml_plan *whole = &split->plan;
    if (split->done)
        return false;

    dml_plan_copy(&piece->plan, whole);
    for (int k = 0; k < whole->rank; k++) {
        int64_t begin = split->begin[k], left = whole->axes[k].extent - begin;
        dml_plan_cut(&piece->plan, k, begin, dml_smaller(left, split->tile[k]));
    }
    if (dml_plan_has_sum(whole))
        dml_plan_narrow(&piece->plan);
    piece->cut = false;
    piece->depth = 0;
    piece->reversed_begin = piece->source_begin = piece->source_end = piece->longest = 0;
    for (int k = 0; k < whole->gathered; k++) {
        dml_gathered *axis = &piece->plan.gathers[k];
        const int64_t begin = split->begin[whole->rank + k], tile = split->tile[whole->rank + k];
        piece->cut = piece->cut || tile < axis->count;
        axis->count = dml_smaller(axis->count - begin, tile);
        axis->begin += begin;
        piece->plan.src_offset += begin * axis->src_stride;
    }
    if (whole->reversed >= 0) {
        const dml_axis *axis = &whole->axes[whole->reversed];
        const int64_t sources = piece->longest = axis->extent;
        piece->cut = split->tile[whole->rank] < sources;
        piece->reversed_begin = split->begin[whole->reversed];
        piece->source_begin = split->begin[whole->rank];
        piece->source_end = dml_smaller(piece->source_begin + split->tile[whole->rank], sources);
        piece->plan.src_offset += (piece->source_begin - piece->reversed_begin) * axis->src_stride;
    }
    advance(split);
    return true;
}

bool dml_split_next(dml_split *split, dml_piece *piece)
{
    while (next_piece(split, piece))
        if (dml_piece_may_move(piece))
            return true;
    return false;
}
