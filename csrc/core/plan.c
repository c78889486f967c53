#include "core/plan.h"

#include <stddef.h>
#include <string.h>

void dml_plan_begin(dml_plan *plan, int64_t item)
{
    memset(plan, 0, offsetof(dml_plan, axes));
    plan->item = item;
    plan->reversed = -1;
}

void dml_plan_add(dml_plan *plan, int64_t extent, int64_t src_stride, int64_t dst_stride)
{
    plan->axes[plan->rank++] = (dml_axis){extent, src_stride, dst_stride, 0};
}

void dml_plan_copy(dml_plan *to, const dml_plan *from)
{
    memcpy(to, from, offsetof(dml_plan, axes) + (size_t)from->rank * sizeof from->axes[0]);
}

int64_t dml_plan_count(const dml_plan *plan)
{
    int64_t count = plan->item > 0;
    for (int k = 0; k < plan->rank; k++)
        count *= plan->axes[k].extent;
    return count;
}

static void span_grow(dml_span *span, int64_t extent, int64_t stride)
{
    int64_t reach = (extent - 1) * stride;
    *(reach < 0 ? &span->begin : &span->end) += reach;
}

dml_span dml_plan_dst_span(const dml_plan *plan)
{
    dml_span span = {plan->dst_offset, plan->dst_offset + plan->item};
    for (int k = 0; k < plan->rank; k++)
        span_grow(&span, plan->axes[k].extent, plan->axes[k].dst_stride);
    return span;
}

dml_span dml_plan_length_span(const dml_plan *plan)
{
    dml_span span = {plan->length_offset, plan->length_offset + (plan->reversed >= 0)};
    for (int k = 0; k < plan->rank; k++)
        span_grow(&span, plan->axes[k].extent, plan->axes[k].length_stride);
    return span;
}

int64_t dml_divisor(uint64_t value, int64_t most)
{
    uint64_t low = (value | (uint64_t)most) & -(value | (uint64_t)most);
    return (int64_t)low;
}

/* --- simplify ------------------------------------------------------------------------------------------------ */

static void remove_axis(dml_plan *plan, int k)
{
    memmove(&plan->axes[k], &plan->axes[k + 1], (size_t)(plan->rank - k - 1) * sizeof plan->axes[0]);
    plan->rank--;
    if (plan->reversed == k)
        plan->reversed = -1;
    else if (plan->reversed > k)
        plan->reversed--;
}

/* Walks an axis from its other end. */
static void flip_axis(dml_plan *plan, dml_axis *axis)
{
    plan->src_offset += (axis->extent - 1) * axis->src_stride;
    plan->dst_offset += (axis->extent - 1) * axis->dst_stride;
    plan->length_offset += (axis->extent - 1) * axis->length_stride;
    axis->src_stride = -axis->src_stride;
    axis->dst_stride = -axis->dst_stride;
    axis->length_stride = -axis->length_stride;
}

/* Insertion sort: stable, and plans are nearly sorted already. */
static void sort_axes(dml_plan *plan)
{
    for (int k = 1; k < plan->rank; k++) {
        dml_axis axis = plan->axes[k];
        bool reversed = plan->reversed == k;
        int to = k;
        for (; to > 0 && dml_magnitude(plan->axes[to - 1].dst_stride) < dml_magnitude(axis.dst_stride); to--) {
            plan->axes[to] = plan->axes[to - 1];
            if (plan->reversed == to - 1)
                plan->reversed = to;
        }
        plan->axes[to] = axis;
        if (reversed)
            plan->reversed = to;
    }
}

static bool chains(const dml_plan *plan, int outer)
{
    const dml_axis *a = &plan->axes[outer], *b = &plan->axes[outer + 1];
    return plan->reversed != outer && plan->reversed != outer + 1 && a->src_stride == b->extent * b->src_stride &&
           a->dst_stride == b->extent * b->dst_stride && a->length_stride == b->extent * b->length_stride;
}

static bool grows_item(const dml_plan *plan)
{
    if (plan->rank == 0 || plan->reversed == plan->rank - 1)
        return false;
    const dml_axis *inner = &plan->axes[plan->rank - 1];
    return inner->src_stride == plan->item && inner->dst_stride == plan->item && inner->length_stride == 0;
}

void dml_plan_simplify(dml_plan *plan)
{
    if (dml_plan_count(plan) == 0) {
        plan->rank = 0;
        plan->reversed = -1;
        dml_plan_add(plan, 0, 0, 0);
        return;
    }
    for (int k = plan->rank - 1; k >= 0; k--) {
        if (plan->axes[k].extent == 1)
            remove_axis(plan, k);
        else if (plan->axes[k].dst_stride < 0 && plan->reversed != k)
            flip_axis(plan, &plan->axes[k]);
    }
    if (plan->reversed < 0)
        for (int k = 0; k < plan->rank; k++)
            plan->axes[k].length_stride = 0;
    sort_axes(plan);
    for (int k = plan->rank - 2; k >= 0; k--) {
        if (chains(plan, k)) {
            plan->axes[k + 1].extent *= plan->axes[k].extent;
            remove_axis(plan, k);
        }
    }
    while (grows_item(plan))
        plan->item *= plan->axes[--plan->rank].extent;
}

/* --- split --------------------------------------------------------------------------------------------------- */

/* A whole number of items per tile that fits, chosen so that tiles are about equal and start on even words. */
static int64_t tile_extent(int64_t extent, int64_t most)
{
    if (extent <= most)
        return extent;
    int64_t tiles = (extent + most - 1) / most;
    int64_t tile = (extent + tiles - 1) / tiles;
    int64_t rounded = (tile + 63) / 64 * 64;
    if (rounded <= most)
        return rounded;
    return most >= 64 ? most / 64 * 64 : tile;
}

typedef enum side { SRC, DST, LENGTHS } side;

/* Bytes between neighbours on an axis, as one side counts them. */
static int64_t side_stride(const dml_axis *axis, side which)
{
    if (which == LENGTHS)
        return dml_magnitude(axis->length_stride) * (int64_t)sizeof(int64_t);
    return dml_magnitude(which == SRC ? axis->src_stride : axis->dst_stride);
}

/* Bytes from the first to the last element of a tile on an axis. */
static int64_t side_reach(const dml_split *split, int k, side which)
{
    return (split->tile[k] - 1) * side_stride(&split->plan.axes[k], which);
}

/* The axis that reaches furthest on one side; the reversed axis only if no other does. */
static int widest_axis(const dml_split *split, side which)
{
    const dml_plan *plan = &split->plan;
    int widest = plan->reversed;
    int64_t reach = 0;
    for (int k = 0; k < plan->rank; k++) {
        if (k != plan->reversed && side_reach(split, k, which) > reach) {
            widest = k;
            reach = side_reach(split, k, which);
        }
    }
    return widest;
}

/* Cuts an axis until its reach is within `room`; gives by how much it became less. */
static int64_t cut_axis(dml_split *split, int k, side which, int64_t room)
{
    int64_t before = side_reach(split, k, which);
    split->tile[k] = tile_extent(split->tile[k], room < 0 ? 1 : room / side_stride(&split->plan.axes[k], which) + 1);
    return before - side_reach(split, k, which);
}

/* Cuts axes until one side's span is within the limit. Each tile of the reversed axis has to look at all of its source, so it
 * stays whole where it leaves the others room: an eighth of the limit. Else it has half at first, and in the end what the others
 * leave. */
static void fit_side(dml_split *split, int64_t limit, side which)
{
    const dml_plan *plan = &split->plan;
    int64_t item = which == LENGTHS ? (int64_t)sizeof(int64_t) : plan->item, span = item;
    for (int k = 0; k < plan->rank; k++)
        span += side_reach(split, k, which);

    int reversed = plan->reversed;
    int64_t reach = reversed < 0 ? 0 : side_reach(split, reversed, which);
    bool wide = span > limit && reach > 0 && reach > limit - limit / 8 - item;
    int64_t extent = wide ? split->tile[reversed] : 0;
    if (wide)
        span -= cut_axis(split, reversed, which, limit / 2 < limit - item ? limit / 2 : limit - item);
    while (span > limit) {
        int k = widest_axis(split, which);
        span -= cut_axis(split, k, which, limit - (span - side_reach(split, k, which)));
    }
    if (wide) {
        span -= side_reach(split, reversed, which);
        split->tile[reversed] = extent;
        cut_axis(split, reversed, which, limit - span);
    }
}

void dml_split_begin(dml_split *split, const dml_plan *plan, int64_t limit)
{
    dml_plan_copy(&split->plan, plan);
    dml_plan *whole = &split->plan;
    if (whole->item > limit) {
        int64_t word = whole->item & -whole->item;
        word = word < 16 ? word : 16;
        dml_plan_add(whole, whole->item / word, word, word);
        whole->item = word;
    }
    for (int k = 0; k < whole->rank; k++) {
        split->tile[k] = whole->axes[k].extent;
        split->begin[k] = 0;
    }
    fit_side(split, limit, SRC);
    fit_side(split, limit, DST);
    fit_side(split, limit, LENGTHS);
    split->tile[whole->rank] = whole->reversed < 0 ? 1 : split->tile[whole->reversed];
    split->begin[whole->rank] = 0;
    split->done = false;
}

/* Whether an element of a cut piece, of the row that has this length, has its source in the piece. */
static bool row_moves(const dml_piece *piece, int64_t length)
{
    int64_t begin = piece->reversed_begin, end = begin + piece->plan.axes[piece->plan.reversed].extent;
    int64_t turned = end < length ? end : length, rest = begin > length ? begin : length;
    return (begin < turned && length - turned < piece->source_end && length - begin > piece->source_begin) ||
           (rest < end && rest < piece->source_end && end > piece->source_begin);
}

/* The same for all rows that have a length of their own, from axis k on. */
static bool rows_move(const dml_piece *piece, int k, int64_t entry)
{
    const dml_plan *plan = &piece->plan;
    while (k < plan->rank && plan->axes[k].length_stride == 0)
        k++;
    if (k == plan->rank)
        return row_moves(piece, plan->lengths[entry]);
    for (int64_t i = 0; i < plan->axes[k].extent; i++)
        if (rows_move(piece, k + 1, entry + i * plan->axes[k].length_stride))
            return true;
    return false;
}

static bool next_piece(dml_split *split, dml_piece *piece)
{
    const dml_plan *whole = &split->plan;
    if (split->done)
        return false;

    dml_plan_copy(&piece->plan, whole);
    for (int k = 0; k < whole->rank; k++) {
        const dml_axis *axis = &whole->axes[k];
        int64_t begin = split->begin[k], left = axis->extent - begin;
        piece->plan.axes[k].extent = left < split->tile[k] ? left : split->tile[k];
        piece->plan.dst_offset += begin * axis->dst_stride;
        piece->plan.length_offset += begin * axis->length_stride;
        if (k != whole->reversed)
            piece->plan.src_offset += begin * axis->src_stride;
    }
    int64_t sources = 1;
    piece->cut = false;
    piece->reversed_begin = piece->source_begin = piece->source_end = 0;
    if (whole->reversed >= 0) {
        const dml_axis *axis = &whole->axes[whole->reversed];
        sources = axis->extent;
        piece->cut = split->tile[whole->rank] < sources;
        piece->reversed_begin = split->begin[whole->reversed];
        piece->source_begin = split->begin[whole->rank];
        int64_t end = piece->source_begin + split->tile[whole->rank];
        piece->source_end = end < sources ? end : sources;
        piece->plan.src_offset += piece->source_begin * axis->src_stride;
    }

    /* The next piece: an odometer, the last axis fastest. */
    int k = whole->rank;
    for (; k >= 0; k--) {
        int64_t extent = k == whole->rank ? sources : whole->axes[k].extent;
        split->begin[k] += split->tile[k];
        if (split->begin[k] < extent)
            break;
        split->begin[k] = 0;
    }
    split->done = k < 0;
    return true;
}

bool dml_split_next(dml_split *split, dml_piece *piece)
{
    while (next_piece(split, piece))
        if (!piece->cut || !piece->plan.lengths || rows_move(piece, 0, piece->plan.length_offset))
            return true;
    return false;
}

int64_t dml_piece_src_extent(const dml_piece *piece, int k)
{
    bool other = piece->cut && k == piece->plan.reversed;
    return other ? piece->source_end - piece->source_begin : piece->plan.axes[k].extent;
}

dml_span dml_piece_src_span(const dml_piece *piece)
{
    const dml_plan *plan = &piece->plan;
    dml_span span = {plan->src_offset, plan->src_offset + plan->item};
    for (int k = 0; k < plan->rank; k++)
        span_grow(&span, dml_piece_src_extent(piece, k), plan->axes[k].src_stride);
    return span;
}
