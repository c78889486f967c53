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
    return span;
}
