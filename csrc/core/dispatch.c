#include "core/dispatch.h"

#include <stddef.h>
#include <string.h>

#include "core/rows.h"
#include "core/walk.h"
#include "core/words.h"

enum {
    COPY_RUN = 16384, /* from here on a region of a copy command pays */
    COPY_REGIONS = 64,
    FEW_ELEMENTS = 4096, /* not worth a pipeline of their own */
    SHARE_BYTES = 8192   /* on a CPU, where a share costs a fraction of a microsecond: less is not worth one */
};

/* What one narrow word may be: a power of two up to 8 that divides all offsets, strides and the item. */
static int32_t edge_bytes(const dml_plan *plan, uint64_t src_base, uint64_t dst_base)
{
    uint64_t all = (uint64_t)plan->item | (src_base + (uint64_t)plan->src_offset) | (dst_base + (uint64_t)plan->dst_offset);
    for (int k = 0; k < plan->rank; k++)
        all |= (uint64_t)plan->axes[k].src_stride | (uint64_t)plan->axes[k].dst_stride;
    return (int32_t)dml_divisor(all, 8);
}

/* --- elements -------------------------------------------------------------------------------------------------- */

static void choose_elements(const dml_piece *piece, const dml_traits *traits, dml_dispatch *dispatch)
{
    /* Narrow words are the elements here: what an item has of them is an axis more. */
    dml_plan plan;
    dml_plan_copy(&plan, &piece->plan);
    int32_t *c = dispatch->constants;
    dml_plan_add(&plan, plan.item / c[DML_EDGE], c[DML_EDGE], c[DML_EDGE]);
    if (plan.reversed >= 0)
        c[DML_REVERSED] = piece->cut ? 2 : 1;

    uint32_t *table = dispatch->table;
    int axes[DML_MAX_AXES + 1], count = dml_walk_list(&plan, -1, axes);
    if (count == 0)
        axes[count++] = plan.rank - 1;
    dml_walk_elements(dispatch, &plan, traits, axes, count);
    int64_t extent = plan.axes[axes[count - 1]].extent;
    table[DML_TABLE_EXTENT] = (uint32_t)extent;

    const int64_t cut[3] = {piece->reversed_begin, piece->source_begin, piece->source_end};
    memcpy(&table[DML_TABLE_CUT], cut, sizeof cut);
    dml_walk_share(dispatch, traits, dml_plan_count(&plan) / extent, extent, 1);
}

/* --- choice ---------------------------------------------------------------------------------------------------- */

static bool is_copy(const dml_plan *plan, dml_kernel forced)
{
    int64_t regions = dml_plan_count(plan);
    bool possible = plan->reversed < 0 && regions <= COPY_REGIONS;
    return possible && (forced == DML_KERNEL_COPY || regions == 1 || plan->item >= COPY_RUN);
}

bool dml_dispatch_region(const dml_plan *plan, int64_t index, int64_t *src_offset, int64_t *dst_offset)
{
    *src_offset = plan->src_offset;
    *dst_offset = plan->dst_offset;
    for (int k = plan->rank - 1; k >= 0; k--) {
        *src_offset += index % plan->axes[k].extent * plan->axes[k].src_stride;
        *dst_offset += index % plan->axes[k].extent * plan->axes[k].dst_stride;
        index /= plan->axes[k].extent;
    }
    return index == 0;
}

/* Where a window is bound from, given the address of its first byte. */
static int64_t window_begin(uint64_t base, int64_t begin, uint32_t alignment)
{
    return begin - (int64_t)((base + (uint64_t)begin) & (alignment - 1));
}

static int32_t choose_segment(const dml_dispatch *dispatch, int64_t binding)
{
    int64_t src = dispatch->src_window.end - dispatch->src_window.begin;
    int64_t dst = dispatch->dst_window.end - dispatch->dst_window.begin;
    int32_t segment = 0;
    if (src > binding || dst > binding)
        while (INT64_C(2) << segment <= binding)
            segment++;
    return segment;
}

/* The device's, but that little is not worth many shares. */
static dml_traits traits_for(const dml_traits *device, int64_t bytes)
{
    dml_traits traits = *device;
    int64_t most = bytes / SHARE_BYTES + 1;
    if (traits.cpu && traits.parallel > most)
        traits.parallel = (uint32_t)most;
    return traits;
}

void dml_dispatch_choose(const dml_piece *piece, const dml_traits *device, uint64_t src_base, uint64_t dst_base,
                         dml_kernel forced, dml_dispatch *dispatch)
{
    const dml_plan *plan = &piece->plan;
    const int64_t bytes = dml_plan_count(plan) * plan->item;
    const dml_traits limited = traits_for(device, bytes), *traits = &limited;
    memset(dispatch, 0, offsetof(dml_dispatch, table) + DML_TABLE_AXES * sizeof dispatch->table[0]);
    dispatch->src_window = dml_piece_src_span(piece);
    dispatch->dst_window = dml_plan_dst_span(plan);
    dispatch->src_window.begin = window_begin(src_base, dispatch->src_window.begin, traits->alignment);
    dispatch->dst_window.begin = window_begin(dst_base, dispatch->dst_window.begin, traits->alignment);

    int32_t *c = dispatch->constants;
    uint32_t *table = dispatch->table;
    c[DML_GROUP_SIZE] = (int32_t)traits->group_size;
    c[DML_EDGE] = edge_bytes(plan, src_base, dst_base);
    c[DML_DYNAMIC] = traits->cpu;
    c[DML_SEGMENT_BITS] = choose_segment(dispatch, traits->binding);
    table[DML_TABLE_REVERSED] = UINT32_MAX; /* none of the table's axes */
    table[DML_TABLE_SRC] = (uint32_t)(plan->src_offset - dispatch->src_window.begin);
    table[DML_TABLE_DST] = (uint32_t)(plan->dst_offset - dispatch->dst_window.begin);
    table[DML_TABLE_LENGTH] = (uint32_t)(plan->length_offset - dml_plan_length_span(plan).begin);
    table[DML_TABLE_LAST] = (uint32_t)((dispatch->src_window.end - dispatch->src_window.begin - 1) / 8);
    if (plan->reversed >= 0)
        table[DML_TABLE_REVERSED_STRIDE] = (uint32_t)plan->axes[plan->reversed].src_stride;

    bool any = forced == DML_KERNEL_COUNT, few = any && bytes <= FEW_ELEMENTS;
    dml_words found, *words = NULL;
    if ((any || forced == DML_KERNEL_WORDS) && !piece->cut && dml_words_find(plan, c[DML_EDGE], &found) &&
        (found.worth || !any))
        words = &found;
    bool rows = (any || forced < DML_KERNEL_WORDS) && !piece->cut;
    if ((any || forced == DML_KERNEL_COPY) && is_copy(plan, forced)) {
        dispatch->kernel = DML_KERNEL_COPY;
    } else if (!few && rows && dml_rows_choose(piece, traits, words, dispatch)) {
        dispatch->kernel = DML_KERNEL_ROWS;
    } else if (!few && words) {
        dispatch->kernel = DML_KERNEL_WORDS;
        dml_words_choose(words, plan, traits, dispatch);
    } else {
        dispatch->kernel = DML_KERNEL_ELEMENTS;
        choose_elements(piece, traits, dispatch);
    }
}
