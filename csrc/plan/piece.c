#include "plan/piece.h"

#include "plan/odometer.h"

int64_t dml_piece_src_extent(const dml_piece *piece, int k)
{
    bool other = piece->cut && k == piece->plan.reversed;
    return other ? piece->source_end - piece->source_begin : piece->plan.axes[k].extent;
}

dml_span dml_piece_src_span(const dml_piece *piece)
{
    const dml_plan *plan = &piece->plan;
    dml_span span = {plan->src_offset, plan->src_offset + dml_plan_src_item(plan)};
    for (int k = 0; k < plan->rank; k++)
        dml_span_grow(&span, dml_piece_src_extent(piece, k), plan->axes[k].src_stride);
    for (int k = 0; k < plan->gathered; k++)
        dml_span_grow(&span, plan->gathers[k].count, plan->gathers[k].src_stride);
    if (dml_plan_has_sum(plan))
        dml_span_grow(&span, plan->taps.inputs, plan->taps.stride);
    return span;
}

/* Whether a cut piece has a source for any of its elements in a row of this length. */
static bool row_moves(const dml_piece *piece, int64_t length)
{
    int64_t begin = piece->reversed_begin, end = begin + piece->plan.axes[piece->plan.reversed].extent;
    int64_t turned = end < length ? end : length, rest = begin > length ? begin : length;
    return (begin < turned && length - turned < piece->source_end && length - begin > piece->source_begin) ||
           (rest < end && rest < piece->source_end && end > piece->source_begin);
}

/* The same for any row. */
static bool rows_move(const dml_piece *piece)
{
    const dml_entries *entries = &piece->plan.entries;
    dml_odometer at;
    dml_odometer_of_entries(&at, &piece->plan);
    bool moves;
    do
        moves = row_moves(piece, dml_entries_read(entries, at.entry, piece->longest));
    while (!moves && dml_odometer_next(&at));
    return moves;
}

bool dml_piece_may_move(const dml_piece *piece)
{
    const dml_plan *plan = &piece->plan;
    return !piece->cut || plan->reversed < 0 || !plan->entries.data || rows_move(piece);
}

/* --- packing ---------------------------------------------------------------------------------------------------------- */

enum {
    NEAR = 64, /* bytes of a gap that is copied rather than left out */
    WORD = 16  /* runs of as many bytes begin at a multiple of it */
};

/* The axes that take memory, the one with the shortest stride first. */
static int sort_axes(const dml_plan *plan, const int64_t *extents, dml_side side, int *order)
{
    int count = 0;
    for (int k = 0; k < plan->rank; k++) {
        int64_t stride = dml_magnitude(dml_side_stride(&plan->axes[k], side));
        if (stride == 0 || extents[k] == 1)
            continue;
        int to = count++;
        for (; to > 0 && dml_magnitude(dml_side_stride(&plan->axes[order[to - 1]], side)) > stride; to--)
            order[to] = order[to - 1];
        order[to] = k;
    }
    return count;
}

/* Strides of a packed side: axes that do not keep theirs lie one behind the other. An axis that needs no memory has stride
 * 0. Gives the bytes of all. */
static int64_t pack(const dml_plan *plan, const int64_t *extents, dml_side side, const bool *kept, int64_t *strides)
{
    int64_t bytes = dml_side_item(plan, side);
    int order[DML_MAX_AXES], count = sort_axes(plan, extents, side, order);
    for (int k = 0; k < plan->rank; k++)
        strides[k] = 0;
    for (int i = 0; i < count; i++) {
        int k = order[i];
        int64_t stride = dml_side_stride(&plan->axes[k], side), length = dml_magnitude(stride);
        if (!kept[k])
            length = bytes < WORD ? bytes : dml_ceil_div(bytes, WORD) * WORD;
        strides[k] = stride < 0 ? -length : length;
        bytes += (extents[k] - 1) * length;
    }
    return bytes;
}

/* The innermost axes keep their strides as long as the gaps are small, or axes interleave. */
int64_t dml_pack_choose(const dml_plan *plan, const int64_t *extents, dml_side side, bool *kept)
{
    int64_t bytes = dml_side_item(plan, side), strides[DML_MAX_AXES];
    int order[DML_MAX_AXES], count = sort_axes(plan, extents, side, order), i = 0;
    for (int k = 0; k < plan->rank; k++)
        kept[k] = false;
    for (; i < count && dml_magnitude(dml_side_stride(&plan->axes[order[i]], side)) - bytes <= NEAR; i++) {
        kept[order[i]] = true;
        bytes += (extents[order[i]] - 1) * dml_magnitude(dml_side_stride(&plan->axes[order[i]], side));
    }
    return pack(plan, extents, side, kept, strides);
}

void dml_pack(const bool *kept, dml_piece *piece, dml_side side, bool exact, dml_plan *copy)
{
    dml_plan *plan = &piece->plan;
    int64_t extents[DML_MAX_AXES], *offset = side == DML_SRC ? &plan->src_offset : &plan->dst_offset;
    for (int k = 0; k < plan->rank; k++)
        extents[k] = side == DML_SRC ? dml_piece_src_extent(piece, k) : plan->axes[k].extent;
    int64_t strides[DML_MAX_AXES];
    pack(plan, extents, side, kept, strides);
    dml_plan_begin(copy, dml_side_item(plan, side));
    copy->src_offset = *offset;
    *offset = 0;
    for (int k = 0; k < plan->rank; k++) {
        int64_t *stride = side == DML_SRC ? &plan->axes[k].src_stride : &plan->axes[k].dst_stride;
        int64_t reach = (extents[k] - 1) * strides[k], back = reach < 0 ? reach : 0;
        *offset -= back;
        if (kept[k] && !exact) { /* some of the run that is copied */
            copy->item += dml_magnitude(reach);
            copy->src_offset += back;
            copy->dst_offset += back;
        } else if (strides[k] != 0) {
            dml_plan_add(copy, extents[k], *stride, strides[k]);
        }
        *stride = strides[k];
    }
    copy->dst_offset += *offset;
}
