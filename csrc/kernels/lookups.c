#include "kernels/lookups.h"

#include <stddef.h>

#include "abi.h"

enum {
    WORD = 16,     /* bytes that are stored at once */
    MOST_SIDE = 8, /* indices of an axis that are part of every tile, */
    MOST_TILE = 32 /* and elements of one: windows that are shared, and tiles found less often, against registers */
};

int64_t dml_lookups_beside(const dml_lookups *lookups)
{
    return lookups->side < 0 ? 1 : lookups->plan.axes[lookups->side].extent;
}

/* The axis of more than one index whose neighbours are so many bytes apart in the destination; -1 if there is none. */
static int axis_of_stride(const dml_plan *plan, int64_t stride)
{
    int k = plan->rank - 1;
    while (k >= 0 && (plan->axes[k].extent == 1 || plan->axes[k].dst_stride != stride))
        k--;
    return k;
}

/* Destination offset and strides in one, but for those of two axes: its low bits are 0 where theirs all are. */
static uint64_t places(const dml_plan *plan, uint32_t dst, int but, int or_but)
{
    uint64_t all = dst;
    for (int k = 0; k < plan->rank; k++)
        if (k != but && k != or_but && plan->axes[k].extent > 1)
            all |= (uint64_t)plan->axes[k].dst_stride;
    return all;
}

/* Source bytes from the first that an element of a tile reads to behind the last, with so many indices of an axis beside the
 * run. */
static int64_t span_of(const dml_lookups *lookups, int side, int64_t indices)
{
    const dml_axis *axes = lookups->plan.axes;
    int64_t beside = side < 0 ? 0 : (indices - 1) * dml_magnitude(axes[side].src_stride);
    return (lookups->tile - 1) * dml_magnitude(axes[lookups->run].src_stride) + beside + lookups->plan.src_item;
}

/* The most indices of an axis that one window has beside those of a run, and that divide its extent; 1 if there are none. */
static int64_t side_of(const dml_lookups *lookups, int axis)
{
    int64_t extent = lookups->plan.axes[axis].extent, indices = dml_smaller(extent, MOST_SIDE);
    while (indices > 1 && (extent % indices != 0 || span_of(lookups, axis, indices) > DML_TABLES_MOST_SPAN))
        indices--;
    return indices;
}

/* Puts indices of the axis whose sources are nearest to each other into every tile. */
static void find_side(dml_lookups *lookups)
{
    dml_plan *plan = &lookups->plan;
    int side = -1;
    for (int k = 0; k < plan->rank; k++)
        if (k != lookups->run && plan->axes[k].dst_stride % WORD == 0 && side_of(lookups, k) > 1 &&
            (side < 0 || dml_magnitude(plan->axes[k].src_stride) < dml_magnitude(plan->axes[side].src_stride)))
            side = k;
    if (side < 0)
        return;
    dml_axis *inner = &plan->axes[side], outer = *inner;
    inner->extent = side_of(lookups, side);
    lookups->side = side;
    if (inner->extent == outer.extent)
        return;
    dml_plan_add(plan, outer.extent / inner->extent, inner->extent * outer.src_stride, inner->extent * outer.dst_stride);
    plan->axes[plan->rank - 1].entry_stride = inner->extent * outer.entry_stride;
}

/* Whole words along the two inner axes of the destination, the innermost of which has few indices; `near`: whose sources one
 * window has. */
static bool find_mixed(dml_lookups *lookups, uint32_t dst, int64_t per_word, bool near)
{
    const dml_plan *plan = &lookups->plan;
    int side = axis_of_stride(plan, plan->item);
    int run = side < 0 ? -1 : axis_of_stride(plan, plan->item * plan->axes[side].extent);
    if (run < 0 || plan->axes[side].extent > MOST_SIDE || plan->axes[run].extent < per_word ||
        places(plan, dst, side, run) % WORD != 0)
        return false;
    lookups->run = run;
    if (near && span_of(lookups, side, plan->axes[side].extent) > DML_TABLES_MOST_SPAN)
        return false;
    lookups->side = side;
    lookups->words = DML_TABLES_MIXED;
    return true;
}

/* Whole words along one axis. */
static bool find_runs(dml_lookups *lookups, uint32_t dst, int64_t per_word)
{
    const dml_plan *plan = &lookups->plan;
    int run = axis_of_stride(plan, plan->item);
    if (run < 0 || plan->axes[run].extent < per_word)
        return false;
    lookups->run = run;
    lookups->words = DML_TABLES_RUNS;
    if (plan->rank < DML_MAX_AXES)
        find_side(lookups);
    if (places(plan, dst, run, -1) % WORD != 0)
        lookups->before = per_word - 1;
    return true;
}

void dml_lookups_find(const dml_plan *plan, uint32_t dst, bool words, dml_lookups *lookups)
{
    *lookups = (dml_lookups){.run = -1, .side = -1, .tile = 1, .words = DML_TABLES_SCALARS};
    dml_plan_copy(&lookups->plan, plan);
    const int64_t per_word = WORD % plan->item == 0 ? WORD / plan->item : 0;
    if (!words || per_word == 0 || places(plan, dst, -1, -1) % (uint64_t)plan->item != 0)
        return;
    lookups->tile = per_word;
    if (!find_mixed(lookups, dst, per_word, true) && !find_runs(lookups, dst, per_word) &&
        !find_mixed(lookups, dst, per_word, false)) {
        lookups->run = -1;
        lookups->tile = 1;
        return;
    }
    const int64_t extent = lookups->plan.axes[lookups->run].extent, beside = dml_lookups_beside(lookups);
    const int64_t most = dml_smaller(MOST_TILE, DML_TABLES_MOST_SPAN / plan->src_item);
    while (2 * lookups->tile * beside <= most && (extent >= 4 * lookups->tile || extent % (2 * lookups->tile) == 0))
        lookups->tile *= 2;
    const int64_t span = span_of(lookups, lookups->side, beside);
    lookups->windowed = span <= DML_TABLES_MOST_SPAN && dml_ceil_div(span, 8) < lookups->tile * beside;
    lookups->same_rows = true;
    for (int k = 0; k < lookups->plan.rank; k++)
        lookups->same_rows = lookups->same_rows && (k == lookups->side || lookups->plan.axes[k].entry_stride == 0);
}
