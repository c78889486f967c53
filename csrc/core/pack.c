#include "core/pack.h"

enum {
    NEAR = 64, /* bytes between elements that are sooner copied with them than left out */
    WORD = 16  /* what runs of this length begin at a multiple of */
};

typedef struct packing {
    int64_t bytes;                /* of all */
    int64_t stride[DML_MAX_AXES]; /* 0 of an axis that takes no memory */
    bool kept[DML_MAX_AXES];      /* it is that of before */
} packing;

static int64_t stride_of(const dml_plan *plan, int k, dml_side side)
{
    return side == DML_SRC ? plan->axes[k].src_stride : plan->axes[k].dst_stride;
}

/* The axes that take memory, the one with the shortest stride first. */
static int sort_axes(const dml_plan *plan, const int64_t *extents, dml_side side, int *order)
{
    int count = 0;
    for (int k = 0; k < plan->rank; k++) {
        int64_t stride = dml_magnitude(stride_of(plan, k, side));
        if (stride == 0 || extents[k] == 1)
            continue;
        int to = count++;
        for (; to > 0 && dml_magnitude(stride_of(plan, order[to - 1], side)) > stride; to--)
            order[to] = order[to - 1];
        order[to] = k;
    }
    return count;
}

/* The innermost axes keep their strides as long as they leave small gaps or none (they may interleave); what is further out is put one
 * behind the other. */
static packing pack(const dml_plan *plan, const int64_t *extents, dml_side side)
{
    packing p = {.bytes = plan->item};
    int order[DML_MAX_AXES], count = sort_axes(plan, extents, side, order);
    bool closing = false;
    for (int i = 0; i < count; i++) {
        int k = order[i];
        int64_t stride = stride_of(plan, k, side), length = dml_magnitude(stride);
        closing = closing || length - p.bytes > NEAR;
        if (closing)
            length = p.bytes < WORD ? p.bytes : (p.bytes + WORD - 1) / WORD * WORD;
        p.kept[k] = !closing;
        p.stride[k] = stride < 0 ? -length : length;
        p.bytes += (extents[k] - 1) * length;
    }
    return p;
}

int64_t dml_packed_bytes(const dml_plan *plan, const int64_t *extents, dml_side side)
{
    return pack(plan, extents, side).bytes;
}

void dml_pack(dml_piece *piece, dml_side side, bool exact, dml_plan *copy)
{
    dml_plan *plan = &piece->plan;
    int64_t extents[DML_MAX_AXES], *offset = side == DML_SRC ? &plan->src_offset : &plan->dst_offset;
    for (int k = 0; k < plan->rank; k++)
        extents[k] = side == DML_SRC ? dml_piece_src_extent(piece, k) : plan->axes[k].extent;
    packing p = pack(plan, extents, side);
    dml_plan_begin(copy, plan->item);
    copy->src_offset = *offset;
    *offset = 0;
    for (int k = 0; k < plan->rank; k++) {
        int64_t *stride = side == DML_SRC ? &plan->axes[k].src_stride : &plan->axes[k].dst_stride;
        int64_t reach = (extents[k] - 1) * p.stride[k], back = reach < 0 ? reach : 0;
        *offset -= back;
        if (p.kept[k] && !exact) { /* a part of the run that is copied */
            copy->item += dml_magnitude(reach);
            copy->src_offset += back;
            copy->dst_offset += back;
        } else if (p.stride[k] != 0) {
            dml_plan_add(copy, extents[k], *stride, p.stride[k]);
        }
        *stride = p.stride[k];
    }
    copy->dst_offset += *offset;
}
