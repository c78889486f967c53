#include "kernels/policy.h"

#include <stddef.h>

#include "kernels/schedule.h"
#include "kernels/sum_tiles.h"

/* --- tiles ----------------------------------------------------------------------------------------------------- */

/* Elements of a tile: the fewest that load `enough` source bytes over all streams. More loads are in flight at once the
 * larger it is, until registers run out. The base is half of invocation_bytes. It is doubled for windows that are not
 * aligned to 16 bytes, each of which needs one extra load, as for word sizes that need little composing; and once more for
 * unaligned sequential reads of few streams. At least half of a workgroup's invocations have a tile. */
static int64_t tile_elements(const dml_policy *policy, const dml_rows *rows)
{
    const dml_tunables *tunables = &policy->traits->tunables;
    int64_t elements = dml_rows_period(rows), stride = dml_magnitude(rows->stride), streams = dml_rows_streams(rows);
    uint64_t begins =
        dml_rows_strides(rows) | (uint64_t)(elements * rows->stride) | (uint64_t)(policy->src + rows->head * rows->stride);
    bool dense = stride <= rows->element, sequential = dense && rows->stride > 0 && !dml_rows_are_reversed(rows);
    bool unaligned = rows->head < 0 || (sequential && begins % 16 != 0);
    bool whole = (dense || rows->stream) && (rows->word == 32 || policy->scalar > 1);
    int64_t enough = tunables->invocation_bytes / 2;
    if (unaligned || whole)
        enough *= 2;
    if (unaligned && sequential && streams <= tunables->long_streams)
        enough *= 2;
    if (rows->row < 0 && !dml_rows_have_ends(rows) && dml_rows_fits(rows, rows->extent) && dml_rows_fill_gaps(rows))
        return rows->extent; /* all of a short row: each invocation then has one */
    while ((elements - 1) * stride + rows->reach < enough / streams && dml_rows_fits(rows, 2 * elements) &&
           elements * policy->traits->group_size <= rows->extent)
        elements *= 2;
    return elements;
}

/* Words that an invocation makes one after the other: many where each goes on with the row that the one before ended in.
 * Where rows are far apart, fewer: what a workgroup's invocations read at a time is then nearer together. */
static int32_t tile_words(const dml_tunables *tunables, const dml_words *words)
{
    int32_t most = tunables->words_tile;
    if (most == 1 || 2 * words->pitch <= tunables->words_dense * words->row)
        return most;
    if (words->row < 16)
        return words->pitch <= tunables->words_near * words->row ? 2 : 1;
    return words->pitch <= tunables->words_sparse * words->row * dml_magnitude(words->ratio) ? most / 2 : most;
}

/* --- candidates ------------------------------------------------------------------------------------------------ */

static bool is_allowed(const dml_policy *policy, dml_kernel kernel)
{
    return policy->traits->kernels >> kernel & 1;
}

static int64_t row_bytes(const dml_rows *rows)
{
    return rows->extent * rows->element;
}

/* Rows of at least so many bytes; `of_16` (or NULL) is the same pattern for words of 16 bytes. */
static bool find_rows(const dml_policy *policy, int word, int64_t least, dml_rows *rows, dml_rows *of_16)
{
    if (policy->piece->cut || !is_allowed(policy, DML_KERNEL_ROWS) ||
        !dml_rows_find(&policy->piece->plan, &policy->traits->tunables, word, policy->dst, rows) || row_bytes(rows) < least)
        return false;
    if (of_16) {
        *of_16 = *rows;
        of_16->word = 16;
        dml_rows_set_tile(of_16, tile_elements(policy, of_16));
    }
    dml_rows_set_tile(rows, tile_elements(policy, rows));
    return true;
}

/* Rows of so few scalars are moved sooner one by one. */
static bool are_worth_words(const dml_policy *policy, const dml_words *words)
{
    if (!is_allowed(policy, DML_KERNEL_ELEMENTS))
        return true;
    int64_t least = policy->traits->tunables.min_scalars;
    if (words->axis >= 0)
        least += least * dml_magnitude(words->ratio);
    return words->row >= least * policy->scalar;
}

static bool find_words(const dml_policy *policy, dml_words *words)
{
    if (policy->piece->cut || !is_allowed(policy, DML_KERNEL_WORDS) ||
        !dml_words_find(&policy->piece->plan, policy->scalar, words) || !are_worth_words(policy, words))
        return false;
    words->tile = tile_words(&policy->traits->tunables, words);
    return true;
}

/* Whether rows lie so near to each other that words find in the cache what the next one needs, or all that lies between them is
 * of other rows. */
static bool are_near(const dml_policy *policy, const dml_rows *rows)
{
    int64_t pitch = 0, span = (rows->extent - 1) * dml_magnitude(rows->stride) + rows->reach;
    for (int k = 0; k < rows->plan->rank; k++)
        if (dml_rows_is_outer(rows, k))
            pitch = dml_magnitude(dml_rows_outer_axis(rows, k).src_stride);
    return dml_plan_reads_all(rows->plan) || !dml_schedule_is_remote(&policy->traits->tunables, pitch, span, false);
}

/* Whether rows have heads and tails, are so short that these are most of the work, and lie near to each other. Or whether they
 * are gathered and short: an invocation reads more than one of them. */
static bool are_better_words(const dml_policy *policy, const dml_rows *rows)
{
    const dml_tunables *tunables = &policy->traits->tunables;
    const dml_words *words = &policy->words;
    if (policy->has_words && rows->plan->gathered > 0)
        return row_bytes(rows) < tunables->gathered_row;
    if (!policy->has_words || !dml_rows_have_ends(rows))
        return false;
    bool same = rows->inners == 0 && rows->row == words->axis; /* as rows of words; else each of these has several of those */
    if (!same && words->axis >= 0)
        return false;
    int64_t short_row = tunables->short_row;
    if (same)
        short_row = (short_row + tunables->short_scalar / policy->scalar) / dml_magnitude(words->ratio);
    return row_bytes(rows) < short_row && are_near(policy, rows);
}

/* --- rules ----------------------------------------------------------------------------------------------------- */

/* Whether rows are so long and so few that a thread of the driver copies them sooner than several compose them: a region costs
 * as much as a few hundred bytes. */
static bool are_rows_to_copy(const dml_tunables *tunables, int64_t item, int64_t regions)
{
    return item >= tunables->copy_row && regions <= item && item * regions <= tunables->copy_bytes;
}

static bool has_formula(dml_policy *policy)
{
    return policy->piece->plan.formula;
}

static bool has_arithmetic(dml_policy *policy)
{
    return policy->piece->plan.arithmetic && !policy->little;
}

/* Only one kernel has sums, and only one looks up entries, whichever are allowed. */
static bool has_float_sum(dml_policy *policy)
{
    return dml_plan_has_sum(&policy->piece->plan) && dml_sum_has_floats(&policy->piece->plan.sum);
}

static bool has_sum(dml_policy *policy)
{
    return dml_plan_has_sum(&policy->piece->plan);
}

static bool has_shuffled_sum(dml_policy *policy)
{
    const dml_plan *plan = &policy->piece->plan;
    const int32_t rows = policy->traits->tunables.shuffled_rows;
    dml_sum_tiles tiles;
    return policy->traits->shuffles && !policy->little && dml_plan_has_sum(plan) &&
           dml_sum_tiles_shuffle(plan, policy->src, policy->dst, rows, &tiles);
}

static bool has_table(dml_policy *policy)
{
    return dml_plan_has_table(&policy->piece->plan);
}

static bool is_copy(dml_policy *policy)
{
    const dml_tunables *tunables = &policy->traits->tunables;
    const dml_plan *plan = &policy->piece->plan;
    int64_t regions = dml_plan_count(plan);
    if (dml_plan_is_indirect(plan) || !is_allowed(policy, DML_KERNEL_COPY))
        return false;
    bool few_runs = regions <= tunables->copy_regions && (regions == 1 || plan->item >= tunables->copy_run);
    return few_runs || are_rows_to_copy(tunables, plan->item, regions);
}

static bool is_little(dml_policy *policy)
{
    return is_allowed(policy, DML_KERNEL_ELEMENTS) && policy->little;
}

static bool is_transpose(dml_policy *policy)
{
    return is_allowed(policy, DML_KERNEL_ROWS) &&
           dml_transpose_find(policy->piece, &policy->traits->tunables, policy->dst, &policy->transpose, &policy->rows);
}

static bool are_blocks(dml_policy *policy)
{
    return is_allowed(policy, DML_KERNEL_BLOCKS) && !policy->piece->cut &&
           dml_blocks_find(&policy->piece->plan, policy->scalar, policy->src, policy->dst, &policy->blocks);
}

/* Words of 32 bytes, unless those of 16 let more rows share a window, or larger words would leave more to be moved byte by
 * byte. */
static bool are_wide_rows(dml_policy *policy)
{
    const dml_tunables *tunables = &policy->traits->tunables;
    int64_t least = tunables->wide_row * policy->traits->group_size;
    dml_rows *rows = &policy->rows, of_16;
    if (tunables->invocation_bytes < 32 || !find_rows(policy, 32, least, rows, &of_16) || of_16.per_window > rows->per_window ||
        are_better_words(policy, rows))
        return false;
    bool narrow = policy->scalar == 1 || (policy->scalar == 2 && row_bytes(rows) < 2 * least);
    return !(dml_rows_have_ends(rows) && narrow);
}

/* Words of 8 bytes, if several short rows then make up a tile although their bytes are no whole words of 16: of all these rows
 * only the first and the last few of an axis have heads and tails. */
static bool are_narrow_rows(dml_policy *policy)
{
    const dml_tunables *tunables = &policy->traits->tunables;
    dml_rows *rows = &policy->rows, of_16;
    bool several = tunables->narrow_row > 0 && find_rows(policy, 8, 0, rows, NULL) && rows->row >= 0 &&
                   rows->element >= tunables->narrow_row && rows->extent >= tunables->narrow_tiles * rows->tile;
    return several && !(find_rows(policy, 16, 0, &of_16, NULL) && of_16.row == rows->row);
}

static bool are_rows(dml_policy *policy)
{
    int64_t least = policy->traits->tunables.min_row;
    return find_rows(policy, 16, least, &policy->rows, NULL) && !are_better_words(policy, &policy->rows);
}

static bool are_words(dml_policy *policy)
{
    return policy->has_words;
}

static bool is_anything(dml_policy *policy)
{
    (void)policy;
    return true;
}

/* The first that applies. */
static const struct {
    dml_kernel kernel;
    const char *reason;
    bool (*applies)(dml_policy *policy);
} rules[] = {
    {DML_KERNEL_FLOAT_SUMS, "a sum of floats, which the device rounds to nearest even", has_float_sum},
    {DML_KERNEL_SHUFFLED_SUMS, "a sum: a subgroup loads the inputs and weights of neighbours once", has_shuffled_sum},
    {DML_KERNEL_SUMS, "a sum: inputs by their weights", has_sum},
    {DML_KERNEL_FORMULAS, "a formula: its operations on each element", has_formula},
    {DML_KERNEL_TABLES, "arithmetic, if the device computes a table's bits by it", has_arithmetic},
    {DML_KERNEL_TABLES, "a table: an entry for each value", has_table},
    {DML_KERNEL_COPY, "one run, or a few long ones: the copy command has no kernel's cost", is_copy},
    {DML_KERNEL_ELEMENTS, "too little for a pipeline of its own: elements need only a few pipelines", is_little},
    {DML_KERNEL_ROWS, "a transpose: blocks of rows, each a word from as many places as it has items", is_transpose},
    {DML_KERNEL_ROWS, "long rows: words of 32 bytes need the fewest loads and stores", are_wide_rows},
    {DML_KERNEL_ROWS, "short rows: several of them are whole words of 8 bytes", are_narrow_rows},
    {DML_KERNEL_ROWS, "rows: whole words by a pattern, scalars at both ends", are_rows},
    {DML_KERNEL_WORDS, "rows so short that their ends would be most of the work: whole words across them", are_words},
    {DML_KERNEL_BLOCKS, "no pattern of rows: words of several rows at once, transposed in registers", are_blocks},
    {DML_KERNEL_ELEMENTS, "no pattern of rows, or destination with gaps: scalars one by one", is_anything},
};

void dml_policy_decide(dml_policy *policy)
{
    const dml_plan *plan = &policy->piece->plan;
    policy->little = dml_plan_bytes(plan) <= policy->traits->tunables.little;
    policy->transpose.rest_count = 0;
    policy->has_words = dml_plan_moves(plan) && find_words(policy, &policy->words);
    int i = 0;
    while (!rules[i].applies(policy))
        i++;
    policy->kernel = rules[i].kernel;
    policy->reason = rules[i].reason;
}
