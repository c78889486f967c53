#include "core/piece.h"

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

/* The same for any row, over the axes from k on. */
static bool rows_move(const dml_piece *piece, int k, int64_t offset)
{
    const dml_plan *plan = &piece->plan;
    while (k < plan->rank && plan->axes[k].entry_stride == 0)
        k++;
    if (k == plan->rank)
        return row_moves(piece, dml_entries_read(&plan->entries, offset, piece->longest));
    for (int64_t i = 0; i < plan->axes[k].extent; i++)
        if (rows_move(piece, k + 1, offset + i * plan->axes[k].entry_stride))
            return true;
    return false;
}

bool dml_piece_may_move(const dml_piece *piece)
{
    const dml_plan *plan = &piece->plan;
    return !piece->cut || plan->reversed < 0 || !plan->entries.data || rows_move(piece, 0, plan->entries.offset);
}
