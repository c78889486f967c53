#include "kernels/dispatch_table.h"

#include <string.h>

uint32_t dml_multiplier(uint32_t d)
{
    return d < 2 ? UINT32_MAX : UINT32_MAX / d + (UINT32_MAX % d == d - 1); /* 2**32 / d */
}

/* --- the table's axes ------------------------------------------------------------------------------------------ */

int dml_table_list(const dml_plan *plan, int but, int or_but, int *axes)
{
    int count = 0;
    for (int k = 0; k < plan->rank; k++)
        if (k != but && k != or_but && plan->axes[k].extent > 1)
            axes[count++] = k;
    return count;
}

static void put_axis(dml_table *table, int k, const dml_axis *axis)
{
    table->axes[k] = (dml_table_axis){.extent = (uint32_t)axis->extent,
                                      .multiplier = dml_multiplier((uint32_t)axis->extent),
                                      .src_stride = (uint32_t)axis->src_stride,
                                      .dst_stride = (uint32_t)axis->dst_stride,
                                      .entry_stride = (uint32_t)axis->entry_stride};
}

void dml_table_put(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int rank)
{
    dml_table *table = &dispatch->table;
    for (int k = 0; k < rank; k++) {
        int axis = axes[rank - 1 - k];
        put_axis(table, k, &plan->axes[axis]);
        if (axis == plan->reversed)
            table->reversed_axis = (uint32_t)k;
    }
    table->rank = (uint32_t)rank;
    for (; rank < DML_TABLE_MIN_AXES; rank++)
        put_axis(table, rank, &(dml_axis){.extent = 1});
    dispatch->table_bytes = (uint32_t)(offsetof(dml_table, axes) + (size_t)rank * sizeof table->axes[0]);
}

void dml_table_move_last(int *axes, int count, int i)
{
    int last = axes[i];
    memmove(&axes[i], &axes[i + 1], (size_t)(count - 1 - i) * sizeof axes[0]);
    axes[count - 1] = last;
}

void dml_table_walk_last(const dml_plan *plan, const dml_tunables *tunables, int *axes, int count)
{
    int walk = count - 1;
    for (int i = count - 1; i >= 0 && plan->axes[axes[walk]].extent < tunables->long_walk; i--)
        if (plan->axes[axes[i]].extent > plan->axes[axes[walk]].extent)
            walk = i;
    if (count > 0)
        dml_table_move_last(axes, count, walk);
}

/* --- strips and chunks ------------------------------------------------------------------------------------------ */

void dml_table_share_out(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t tiles, int64_t side)
{
    int64_t chunks = traits->tunables.chunks, groups = traits->max_groups;
    int64_t strips = dml_ceil_div(chunks, rows), unit = 4 * (int64_t)traits->group_size;
    int64_t strip = dml_ceil_div(dml_ceil_div(tiles, strips), unit) * unit;
    strips = dml_ceil_div(tiles, strip);
    int64_t total = rows * strips, most = traits->tunables.dynamic || chunks < groups ? chunks : groups;
    int64_t chunk = dml_ceil_div(dml_ceil_div(total, most), side) * side;
    chunks = dml_ceil_div(total, chunk);
    dispatch->groups = (uint32_t)(chunks < groups ? chunks : groups);
    dml_table *table = &dispatch->table;
    table->chunks = (uint32_t)chunks;
    table->chunk = (uint32_t)chunk;
    table->total = (uint32_t)total;
    table->rows = (uint32_t)rows;
    table->rows_multiplier = dml_multiplier((uint32_t)rows);
    table->strip = (uint32_t)strip;
}
