#include "plan/plan.h"

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
    memcpy(to->gathers, from->gathers, (size_t)from->gathered * sizeof from->gathers[0]);
}

void dml_plan_cut(dml_plan *plan, int k, int64_t begin, int64_t extent)
{
    dml_axis *axis = &plan->axes[k];
    plan->src_offset += begin * axis->src_stride;
    plan->dst_offset += begin * axis->dst_stride;
    plan->entries.offset += begin * axis->entry_stride;
    axis->extent = extent;
}

int dml_plan_axis_to_cut(const dml_plan *plan, int64_t enough)
{
    int longest = -1;
    for (int k = 0; k < plan->rank; k++) {
        const int64_t extent = plan->axes[k].extent;
        if (k == plan->reversed || extent < 2)
            continue;
        if (extent >= enough)
            return k;
        if (longest < 0 || extent > plan->axes[longest].extent)
            longest = k;
    }
    return longest;
}

void dml_plan_take(dml_plan *to, const dml_plan *from, const dml_cut *cut)
{
    dml_plan_copy(to, from);
    dml_plan_cut(to, cut->axis, cut->begin, cut->extent);
    dml_plan_simplify(to);
}

void dml_plan_divide_item(dml_plan *plan, int64_t most)
{
    int64_t unit = dml_divisor((uint64_t)plan->item, most);
    dml_plan_add(plan, plan->item / unit, unit, unit);
    plan->item = unit;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t value = *a;
    *a = *b;
    *b = value;
}

void dml_plan_turn(dml_plan *plan)
{
    swap(&plan->src_offset, &plan->dst_offset);
    for (int k = 0; k < plan->rank; k++)
        swap(&plan->axes[k].src_stride, &plan->axes[k].dst_stride);
}

int64_t dml_plan_count(const dml_plan *plan)
{
    int64_t count = plan->item > 0;
    for (int k = 0; k < plan->rank; k++)
        count *= plan->axes[k].extent;
    return count;
}

bool dml_plan_element(const dml_plan *plan, int64_t index, int64_t *src_offset, int64_t *dst_offset)
{
    *src_offset = plan->src_offset;
    *dst_offset = plan->dst_offset;
    for (int k = plan->rank - 1; k >= 0; k--) {
        const dml_axis *axis = &plan->axes[k];
        *src_offset += index % axis->extent * axis->src_stride;
        *dst_offset += index % axis->extent * axis->dst_stride;
        index /= axis->extent;
    }
    return index == 0;
}

int64_t dml_plan_bytes(const dml_plan *plan)
{
    return dml_plan_count(plan) * plan->item;
}

dml_span dml_plan_dst_span(const dml_plan *plan)
{
    dml_span span = {plan->dst_offset, plan->dst_offset + plan->item};
    for (int k = 0; k < plan->rank; k++)
        dml_span_grow(&span, plan->axes[k].extent, plan->axes[k].dst_stride);
    return span;
}

dml_span dml_plan_entry_span(const dml_plan *plan)
{
    dml_span span = {plan->entries.offset, plan->entries.offset + (dml_plan_is_indirect(plan) ? plan->entries.item : 0)};
    for (int k = 0; k < plan->rank; k++)
        dml_span_grow(&span, plan->axes[k].extent, plan->axes[k].entry_stride);
    if (plan->gathered > 0) /* the first one's entries are at 0, the others' at even distances from there */
        dml_span_grow(&span, 2, plan->gathers[plan->gathered - 1].entry_offset);
    return span;
}

/* The integer at an offset: of 64 bits, also where it is signed. */
static uint64_t bits_at(const dml_entries *entries, int64_t offset)
{
    const unsigned char *from = (const unsigned char *)entries->data + offset;
    const int64_t item = entries->item;
    uint64_t value = 0;
    if (item == sizeof value && !entries->swapped)
        memcpy(&value, from, sizeof value);
    else
        for (int64_t i = 0; i < item; i++)
            value |= (uint64_t)from[entries->swapped ? item - 1 - i : i] << 8 * i;
    const uint64_t sign = UINT64_C(1) << (8 * item - 1);
    return entries->is_signed ? (value ^ sign) - sign : value;
}

int64_t dml_entries_read(const dml_entries *entries, int64_t offset, int64_t most)
{
    const uint64_t value = bits_at(entries, offset);
    if (entries->is_signed && (int64_t)value < 0)
        return 0;
    return value < (uint64_t)most ? (int64_t)value : most;
}

int64_t dml_entries_index(const dml_entries *entries, int64_t offset, int64_t extent)
{
    return dml_entries_clamp(entries, bits_at(entries, offset), extent, entries->is_signed);
}

bool dml_plan_is_dense(const dml_plan *plan)
{
    int64_t run = plan->item;
    for (int k = plan->rank - 1; k >= 0; k--) {
        if (plan->axes[k].extent > 1 && plan->axes[k].dst_stride != run)
            return false;
        run *= plan->axes[k].extent;
    }
    return true;
}

bool dml_plan_reads_all(const dml_plan *plan)
{
    if (plan->gathered > 0 || dml_plan_has_sum(plan))
        return false;
    dml_span span = {0, dml_plan_src_item(plan)};
    for (int k = 0; k < plan->rank; k++)
        dml_span_grow(&span, plan->axes[k].extent, plan->axes[k].src_stride);
    return dml_plan_count(plan) * dml_plan_src_item(plan) >= span.end - span.begin;
}

int64_t dml_divisor(uint64_t value, int64_t most)
{
    uint64_t low = (value | (uint64_t)most) & -(value | (uint64_t)most);
    return (int64_t)low;
}

/* --- simplify ------------------------------------------------------------------------------------------------ */

void dml_plan_remove_axis(dml_plan *plan, int k)
{
    memmove(&plan->axes[k], &plan->axes[k + 1], (size_t)(plan->rank - k - 1) * sizeof plan->axes[0]);
    plan->rank--;
    if (plan->reversed == k)
        plan->reversed = -1;
    else if (plan->reversed > k)
        plan->reversed--;
}

/* Traverses an axis from its other end. */
static void flip_axis(dml_plan *plan, int k)
{
    dml_axis *axis = &plan->axes[k];
    dml_plan_cut(plan, k, axis->extent - 1, axis->extent);
    axis->src_stride = -axis->src_stride;
    axis->dst_stride = -axis->dst_stride;
    axis->entry_stride = -axis->entry_stride;
}

/* Insertion sort: stable, and plans are nearly sorted already. */
static void sort_axes(dml_plan *plan)
{
    dml_axis *axes = plan->axes;
    for (int k = 1; k < plan->rank; k++) {
        for (int to = k; to > 0 && dml_magnitude(axes[to - 1].dst_stride) < dml_magnitude(axes[to].dst_stride); to--) {
            const dml_axis axis = axes[to];
            axes[to] = axes[to - 1];
            axes[to - 1] = axis;
            if (plan->reversed == to || plan->reversed == to - 1)
                plan->reversed = 2 * to - 1 - plan->reversed;
        }
    }
}

static bool chains(const dml_plan *plan, int outer)
{
    const dml_axis *a = &plan->axes[outer], *b = &plan->axes[outer + 1];
    return plan->reversed != outer && plan->reversed != outer + 1 && a->src_stride == b->extent * b->src_stride &&
           a->dst_stride == b->extent * b->dst_stride && a->entry_stride == b->extent * b->entry_stride;
}

static bool grows_item(const dml_plan *plan)
{
    if (!dml_plan_moves(plan) || plan->rank == 0 || plan->reversed == plan->rank - 1)
        return false;
    const dml_axis *inner = &plan->axes[plan->rank - 1];
    return inner->src_stride == plan->item && inner->dst_stride == plan->item && inner->entry_stride == 0;
}

void dml_plan_simplify(dml_plan *plan)
{
    if (dml_plan_count(plan) == 0) {
        plan->rank = plan->gathered = 0;
        plan->reversed = -1;
        dml_plan_add(plan, 0, 0, 0);
        return;
    }
    for (int k = plan->rank - 1; k >= 0; k--) {
        if (plan->axes[k].extent == 1)
            dml_plan_remove_axis(plan, k);
        else if (plan->axes[k].dst_stride < 0 && plan->reversed != k)
            flip_axis(plan, k);
    }
    if (!dml_plan_is_indirect(plan))
        for (int k = 0; k < plan->rank; k++)
            plan->axes[k].entry_stride = 0;
    sort_axes(plan);
    for (int k = plan->rank - 2; k >= 0; k--) {
        if (chains(plan, k)) {
            plan->axes[k + 1].extent *= plan->axes[k].extent;
            dml_plan_remove_axis(plan, k);
        }
    }
    while (grows_item(plan))
        plan->item *= plan->axes[--plan->rank].extent;
}
