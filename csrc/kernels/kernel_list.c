#include "kernels/kernel_list.h"

#include <stddef.h>
#include <string.h>

#include "kernels/formula_words.h"
#include "kernels/schedule.h"

/* --- constants and table --------------------------------------------------------------------------------------- */

static void encode_rows(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    dml_pattern_encode(&policy->rows, policy->src, dispatch->constants);
    dml_schedule_rows(&policy->rows, traits, dispatch);
}

static void encode_words(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_words *words = &policy->words;
    if (words->plan->reversed >= 0)
        dispatch->constants[DML_ENTRIES_WAY] = DML_ENTRIES_ADVANCE;
    dispatch->constants[DML_WORDS_STRIDE] = (int32_t)words->ratio * words->scalar;
    dispatch->constants[DML_WORDS_TILE] = words->tile;
    dml_schedule_words(words, traits, dispatch);
}

static void encode_blocks(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_blocks *blocks = &policy->blocks;
    int32_t *constants = dispatch->constants;
    constants[DML_BLOCKS_ROWS] = (int32_t)blocks->rows;
    constants[DML_BLOCKS_INSIDE] = (int32_t)blocks->inside;
    constants[DML_BLOCKS_CHAIN] = blocks->chain;
    constants[DML_BLOCKS_ALIGN] = blocks->aligned;
    constants[DML_BLOCKS_PHASED] = blocks->phased;
    dml_schedule_blocks(blocks, traits, dispatch);
}

/* Whether a load of 16 bytes has the entries of elements that are neighbours along axis 0, wherever a word of them begins. The
 * entry of the first lies in its binding as it does in memory, modulo 16. */
static bool are_words(const dml_piece *piece, const dml_dispatch *dispatch)
{
    const dml_plan *plan = &piece->plan;
    const dml_table *table = &dispatch->table;
    const uint32_t scalar = (uint32_t)dispatch->constants[DML_SCALAR], item = (uint32_t)plan->entries.item;
    if (plan->gathered != 1 || piece->cut || plan->entries.swapped || item < 4 || item < scalar ||
        table->axes[0].dst_stride != scalar || table->axes[0].entry_stride != item)
        return false;
    uint32_t apart =
        table->dst_offset / scalar * item - (uint32_t)((uintptr_t)plan->entries.data + (uint64_t)plan->entries.offset);
    for (uint32_t k = 1; k < table->rank; k++)
        apart |= table->axes[k].dst_stride / scalar * item - table->axes[k].entry_stride;
    return apart % 16 == 0;
}

static void encode_elements(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_piece *piece = policy->piece;
    dml_plan plan;
    dml_plan_copy(&plan, &piece->plan);
    int32_t scalar = dispatch->constants[DML_SCALAR];
    dml_plan_divide_item(&plan, scalar);
    if (plan.reversed >= 0)
        dispatch->constants[DML_ENTRIES_WAY] = piece->cut ? DML_ENTRIES_CUT : DML_ENTRIES_ADVANCE;
    dispatch->table.cut_begin = piece->reversed_begin;
    dispatch->table.source_begin = piece->source_begin;
    dispatch->table.source_end = piece->source_end;
    dml_schedule_elements(&plan, traits, dispatch);
    dispatch->constants[DML_ELEMENTS_WORDS] = are_words(piece, dispatch);
}

static void encode_tables(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &policy->piece->plan;
    dml_lookups lookups;
    dml_lookups_find(plan, policy->dst, !policy->little, &lookups);
    int32_t *constants = dispatch->constants;
    constants[DML_ENTRIES_WAY] = DML_ENTRIES_ADVANCE;
    constants[DML_TABLES_ITEM] = (int32_t)plan->item;
    constants[DML_TABLES_SOURCE] = (int32_t)plan->src_item;
    constants[DML_TABLES_TILE] = (int32_t)lookups.tile;
    constants[DML_TABLES_SIDE] = (int32_t)dml_lookups_beside(&lookups);
    constants[DML_TABLES_WORDS] = lookups.words;
    constants[DML_TABLES_WINDOWED] = lookups.windowed;
    if (lookups.windowed) {
        constants[DML_TABLES_STRIDE] = (int32_t)lookups.plan.axes[lookups.run].src_stride;
        constants[DML_TABLES_SIDE_STRIDE] = lookups.side < 0 ? 0 : (int32_t)lookups.plan.axes[lookups.side].src_stride;
    }
    constants[DML_TABLES_OPERATIONS] = plan->arithmetic ? (int32_t)plan->arithmetic->operations : 0;
    constants[DML_TABLES_SAME_ROWS] = lookups.same_rows;
    dml_schedule_tables(&lookups, traits, dispatch);
}

/* Whether all elements lie at multiples of 4 bytes. */
static bool are_aligned(const dml_plan *plan, uint32_t src)
{
    uint64_t all = src;
    for (int k = 0; k < plan->rank; k++)
        all |= (uint64_t)plan->axes[k].src_stride;
    return all % 4 == 0;
}

/* As tables, but for what an element becomes. */
static void encode_formulas(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &policy->piece->plan;
    encode_tables(policy, traits, dispatch);
    dml_formula_words words;
    dml_formula_words_find(plan->formula, true, &words);
    words.ends |= are_aligned(plan, policy->src) ? DML_FORMULA_ALIGNED : 0;
    dispatch->constants[DML_FORMULAS_ENDS] = (int32_t)words.ends;
    for (int k = 0; k < DML_FORMULAS_MOST_STEPS; k++)
        dispatch->constants[DML_FORMULAS_STEPS + k] = (int32_t)words.steps[k];
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void encode_sum(const dml_plan *plan, dml_table *table)
{
    const dml_sum *sum = &plan->sum;
    table->sums_taps = (uint32_t)plan->taps.count;
    table->sums_stride = (uint32_t)plan->taps.stride;
    table->sums_last = (uint32_t)(plan->taps.inputs - 1);
    table->sums_shift = (uint32_t)sum->shift;
    if (sum->kind == DML_SUM_CLIP)
        table->sums_bias = UINT32_C(1) << sum->shift >> 1;
    else if (sum->kind == DML_SUM_FLOORS)
        table->sums_bias = 2;
    else if (sum->kind == DML_SUM_REDUCE)
        table->sums_bias = sum->half;
    table->sums_multiplier = sum->multiplier;
    if (sum->kind == DML_SUM_CUBIC)
        table->sums_multiplier = bits_of(1.0F / (float)(1 << sum->shift));
    else if (sum->kind == DML_SUM_TIMES)
        table->sums_multiplier = bits_of(sum->factor);
    else if (sum->kind == DML_SUM_OVER)
        table->sums_multiplier = (uint32_t)sum->factor;
}

static void encode_sums(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch)
{
    const dml_plan *plan = &policy->piece->plan;
    dml_sum_tiles tiles;
    if (policy->kernel == DML_KERNEL_SHUFFLED_SUMS)
        dml_sum_tiles_shuffle(plan, policy->src, policy->dst, traits->tunables.shuffled_rows, &tiles);
    else
        dml_sum_tiles_find(plan, policy->src, policy->dst, policy->little ? 0 : traits->tunables.sums_rows, &tiles);
    int32_t *constants = dispatch->constants;
    constants[DML_ENTRIES_WAY] = DML_ENTRIES_ADVANCE;
    constants[DML_SUMS_KIND] = (int32_t)plan->sum.kind;
    constants[DML_SUMS_NUMBER] = (int32_t)plan->taps.number;
    constants[DML_SUMS_ITEM] = (int32_t)plan->item;
    constants[DML_SUMS_WAY] = tiles.way;
    constants[DML_SUMS_TILE] = tiles.tile;
    constants[DML_SUMS_CHANNELS] = tiles.channels;
    constants[DML_SUMS_OUTPUTS] = tiles.outputs;
    constants[DML_SUMS_FLIPPED] = tiles.flipped;
    constants[DML_SUMS_ROWS] = tiles.rows;
    constants[DML_SUMS_ALIGN] = tiles.align;
    constants[DML_SUMS_WORD] = tiles.word;
    constants[DML_SUMS_EARLY] = tiles.early;
    constants[DML_SUMS_REGISTERS] = tiles.registers;
    constants[DML_SUMS_GROUPS] = tiles.weights.units ? tiles.weights.groups : 1;
    constants[DML_SUMS_REST] = tiles.shuffled && tiles.way == DML_SUMS_ACROSS ? (int32_t)(plan->taps.count % 4) : 0;
    dispatch->weights = tiles.weights;
    dispatch->table.src_offset += (uint32_t)tiles.src_offset;
    dispatch->table.sums_units = (uint32_t)tiles.units;
    dispatch->weight_bytes = dml_sum_weights_bytes(&tiles.weights, plan);
    const int64_t before = plan->entries.offset - dml_plan_entry_span(plan).begin;
    dispatch->table.entry_offset = (uint32_t)(before / plan->entries.item * dml_sum_weights_row(&tiles.weights));
    encode_sum(plan, &dispatch->table);
    dml_schedule_sums(&tiles, traits, dispatch);
}

/* --- what an invocation makes ---------------------------------------------------------------------------------- */

static dml_invocation invocation_of_rows(const dml_dispatch *dispatch)
{
    const int32_t *c = dispatch->constants;
    const int64_t items = (int64_t)c[DML_ROWS_EXTENT_0] * c[DML_ROWS_EXTENT_1] * c[DML_ROWS_EXTENT_2];
    return (dml_invocation){.tile = items * c[DML_ROWS_TILE] * c[DML_ROWS_ITEM],
                            .word = c[DML_ROWS_WORD],
                            .alignment = c[DML_ROWS_ALIGN],
                            .per_window = c[DML_ROWS_PER_WINDOW],
                            .per_group = c[DML_ROWS_SCHEDULE] ? c[DML_ROWS_SCHEDULE] : 1,
                            .ahead = c[DML_ROWS_AHEAD]};
}

static dml_invocation invocation_of_words(const dml_dispatch *dispatch)
{
    return (dml_invocation){.tile = 16 * (int64_t)dispatch->constants[DML_WORDS_TILE], .word = 16};
}

static dml_invocation invocation_of_blocks(const dml_dispatch *dispatch)
{
    const int32_t *c = dispatch->constants;
    return (dml_invocation){.tile = (int64_t)dispatch->table.blocks_words * 8 * c[DML_BLOCKS_ROWS],
                            .word = 8,
                            .alignment = c[DML_BLOCKS_ALIGN],
                            .per_window = c[DML_BLOCKS_ROWS]};
}

static dml_invocation invocation_of_elements(const dml_dispatch *dispatch)
{
    return (dml_invocation){.tile = dispatch->constants[DML_SCALAR]};
}

static dml_invocation invocation_of_tables(const dml_dispatch *dispatch)
{
    const int32_t *c = dispatch->constants;
    return (dml_invocation){.tile = (int64_t)c[DML_TABLES_ITEM] * c[DML_TABLES_TILE] * c[DML_TABLES_SIDE],
                            .word = c[DML_TABLES_WORDS] == DML_TABLES_SCALARS ? 0 : 16};
}

static dml_invocation invocation_of_sums(const dml_dispatch *dispatch)
{
    const int32_t *c = dispatch->constants;
    return (dml_invocation){.tile = (int64_t)c[DML_SUMS_ITEM] * c[DML_SUMS_TILE] * c[DML_SUMS_OUTPUTS] * c[DML_SUMS_ROWS],
                            .word = c[DML_SUMS_WORD],
                            .alignment = c[DML_SUMS_ALIGN],
                            .per_window = c[DML_SUMS_ROWS]};
}

const dml_kernel_info dml_kernel_list[DML_KERNEL_COUNT] = {
    [DML_KERNEL_COPY] = {.name = "copy"},
    [DML_KERNEL_ROWS] = {.name = "rows", .encode = encode_rows, .describe = invocation_of_rows},
    [DML_KERNEL_WORDS] = {.name = "words", .encode = encode_words, .describe = invocation_of_words},
    [DML_KERNEL_ELEMENTS] = {.name = "elements",
                             .encode = encode_elements,
                             .describe = invocation_of_elements,
                             .by_scalars = true},
    [DML_KERNEL_BLOCKS] = {.name = "blocks", .encode = encode_blocks, .describe = invocation_of_blocks},
    [DML_KERNEL_TABLES] = {.name = "tables", .encode = encode_tables, .describe = invocation_of_tables},
    [DML_KERNEL_FORMULAS] =
        {.name = "formulas", .encode = encode_formulas, .describe = invocation_of_tables, .floats = true, .keeps = true},
    [DML_KERNEL_SUMS] = {.name = "sums", .encode = encode_sums, .describe = invocation_of_sums},
    [DML_KERNEL_SHUFFLED_SUMS] = {.name = "shuffled_sums",
                                  .encode = encode_sums,
                                  .describe = invocation_of_sums,
                                  .shuffles = true},
    [DML_KERNEL_FLOAT_SUMS] = {.name = "float_sums", .encode = encode_sums, .describe = invocation_of_sums, .floats = true},
};
