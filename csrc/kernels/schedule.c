#include "kernels/schedule.h"

#include "kernels/dispatch_table.h"

void dml_schedule_words(const dml_words *words, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = words->plan;
    int axes[DML_MAX_AXES], rank = dml_table_list(plan, words->axis, -1, axes);
    dml_table_put(dispatch, plan, axes, rank);
    int64_t bytes = dml_plan_bytes(plan), tile = 16 * (int64_t)words->tile;
    dispatch->table.words_rows = (uint32_t)(bytes / words->row);
    dispatch->table.words_row = (uint32_t)words->row;
    dispatch->table.words_row_multiplier = dml_multiplier((uint32_t)words->row);
    dml_table_share_out(dispatch, traits, 1, dml_ceil_div(bytes, tile), 1);
}

void dml_schedule_blocks(const dml_blocks *blocks, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &blocks->plan;
    int axes[DML_MAX_AXES];
    for (int k = 0; k < plan->rank; k++)
        axes[k] = k;
    dml_table_put(dispatch, plan, axes, plan->rank);
    dml_table *table = &dispatch->table;
    int64_t words = dml_ceil_div(blocks->row, 8), tiles = dml_ceil_div(words, traits->tunables.blocks_tile);
    int64_t bytes = dml_plan_bytes(plan), apart = dml_blocks_axis(blocks, DML_MAX_CHAIN)->extent * blocks->row;
    int64_t sides = bytes / apart / blocks->inside * blocks->sides;
    uint64_t ends = blocks->sides > 1 ? (uint64_t)(blocks->rows * blocks->row) : 0;
    bool edges = (table->dst_offset | (uint64_t)apart | ends) % 8 != 0;
    table->blocks_row = (uint32_t)blocks->row;
    table->blocks_words = (uint32_t)dml_ceil_div(words, tiles);
    table->blocks_tiles = (uint32_t)tiles;
    table->blocks_tiles_multiplier = dml_multiplier((uint32_t)tiles);
    table->blocks_sides = (uint32_t)blocks->sides;
    table->blocks_sides_multiplier = dml_multiplier((uint32_t)blocks->sides);
    table->blocks_count = (uint32_t)(sides * tiles);
    table->blocks_edges = edges ? (uint32_t)(sides + 1) : 0;
    table->blocks_bytes = (uint32_t)bytes;
    dml_table_share_out(dispatch, traits, 1, (int64_t)table->blocks_count + table->blocks_edges, 1);
}

void dml_schedule_elements(const dml_plan *plan, const dml_traits *traits, dml_dispatch *dispatch)
{
    int axes[DML_MAX_AXES + 1], count = dml_table_list(plan, -1, -1, axes);
    if (count == 0)
        axes[count++] = plan->rank - 1;
    dml_table_walk_last(plan, &traits->tunables, axes, count);
    dml_table_put(dispatch, plan, axes, count);
    int64_t extent = plan->axes[axes[count - 1]].extent;
    dispatch->table.elements_extent = (uint32_t)extent;
    dml_table_share_out(dispatch, traits, dml_plan_count(plan) / extent, extent, 1);
}

/* Shares out so many tiles, of which so many have some elements of two axes. */
static void put_tiles(dml_dispatch *dispatch, const dml_traits *traits, int64_t elements, int64_t tiles, int64_t count)
{
    dml_table *table = &dispatch->table;
    table->tiled_elements = (uint32_t)elements;
    table->tiles = (uint32_t)tiles;
    table->tiles_multiplier = dml_multiplier((uint32_t)tiles);
    table->tiles_count = (uint32_t)count;
    dml_table_share_out(dispatch, traits, 1, count, 1);
}

void dml_schedule_tables(const dml_lookups *lookups, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &lookups->plan;
    int axes[DML_MAX_AXES], rank = dml_table_list(plan, lookups->side, lookups->run, axes);
    if (lookups->run < 0)
        dml_table_walk_last(plan, &traits->tunables, axes, rank);
    if (lookups->side >= 0)
        axes[rank++] = lookups->side;
    if (lookups->run >= 0)
        axes[rank++] = lookups->run;
    dml_table_put(dispatch, plan, axes, rank);
    dml_table *table = &dispatch->table;
    int64_t extent = table->axes[0].extent, tiles = dml_ceil_div(extent + lookups->before, lookups->tile);
    int64_t elements = dml_lookups_beside(lookups) * extent, count = dml_plan_count(plan) / elements * tiles;
    put_tiles(dispatch, traits, elements, tiles, count);
}

void dml_schedule_sums(const dml_sum_tiles *sums, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &sums->plan;
    int axes[DML_MAX_AXES], rank = dml_table_list(plan, sums->run, sums->side, axes);
    if (sums->side >= 0)
        axes[rank++] = sums->side;
    if (sums->run >= 0)
        axes[rank++] = sums->run;
    dml_table_put(dispatch, plan, axes, rank);
    dml_table *table = &dispatch->table;
    int64_t elements = 1, tiles = 1, before = sums->early ? sums->word / plan->item - 1 : 0;
    if (sums->run >= 0) {
        elements = table->axes[0].extent;
        tiles = dml_ceil_div(elements + before, sums->tile);
        if (sums->shuffled) /* of a subgroup: one loop over all of a run, or tiles side by side */
            tiles = sums->way == DML_SUMS_ACROSS ? DML_SUBGROUP : dml_ceil_div(tiles, DML_SUBGROUP) * DML_SUBGROUP;
        table->sums_across = (uint32_t)tiles;
        table->sums_across_multiplier = dml_multiplier((uint32_t)tiles);
    }
    if (sums->way == DML_SUMS_ALONG) {
        elements *= table->axes[1].extent;
        tiles *= dml_ceil_div(table->axes[1].extent, sums->rows);
    }
    put_tiles(dispatch, traits, elements, tiles, dml_plan_count(plan) / elements * tiles);
}
