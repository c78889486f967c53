#include "host/host_computed.h"

#include <math.h>
#include <string.h>

#include "abi.h"
#include "base/compiler.h"

enum {
    VECTOR = DML_HOST_VECTOR, /* elements that are brought together at a time */
    VALUES = 256,             /* of a byte */
    WORTH = 16                /* elements of a plan for each entry that is tried */
};

static dml_computed_row *fastest(int64_t item)
{
    dml_computed_row *row = dml_computed_row_avx512(item);
    return row ? row : dml_computed_row_avx2(item);
}

/* Finds the windows of a vector's elements: `cols` that lie `stride` bytes apart, then those of the next row. Each is within
 * the bytes from a row's first element to its last one. False if these are too few, or windows too many. */
static bool find_windows(dml_host_computed *by, int64_t cols, int64_t stride, int64_t row)
{
    const int64_t span = (cols - 1) * dml_magnitude(stride) + 1, low = stride < 0 ? 1 - span : 0;
    const int64_t windows = dml_ceil_div(span, VECTOR), rows = VECTOR / cols;
    if (span < VECTOR || windows * rows > DML_HOST_COMPUTED)
        return false;
    memset(by->masks, 0x80, sizeof by->masks);
    by->windows = (int)(windows * rows);
    by->group = rows * row;
    for (int64_t k = 0; k < by->windows; k++) {
        const int64_t begin = low + dml_smaller(k % windows * VECTOR, span - VECTOR);
        by->offsets[k] = k / windows * row + begin;
        for (int64_t i = 0; i < cols; i++)
            if (i * stride >= begin && i * stride < begin + VECTOR)
                by->masks[k][k / windows * cols + i] = (uint8_t)(i * stride - begin);
    }
    return true;
}

/* The constants of the table's row so many bytes behind the first. */
static const char *constants_at(const dml_host_computed *by, int64_t entry)
{
    return by->constants + entry / by->table * by->bytes;
}

/* Rows of 8 or 16 elements all together, where they continue each other in the result; of 32 and more one by one. */
static bool choose_rows(const dml_plan *plan, dml_host_job *job)
{
    const dml_host_axis *col = &job->col, *row = &job->row;
    dml_host_computed *by = &job->computed;
    if (col->entry != 0 || col->dst != plan->item || col->block != col->extent)
        return false;
    by->whole = row->entry == 0 && row->dst == col->extent * plan->item && row->block == row->extent &&
                (col->extent == VECTOR || (2 * col->extent == VECTOR && row->extent % 2 == 0));
    if (by->whole)
        return row->extent * col->extent >= DML_COMPUTED && find_windows(by, col->extent, col->src, row->src);
    return col->extent >= DML_COMPUTED && find_windows(by, VECTOR, col->src, VECTOR * col->src);
}

/* Channels last, side by side on both sides: an element's constants come again after all channels. */
static bool choose_turns(const dml_plan *plan, dml_host_job *job)
{
    if (plan->rank < 2)
        return false;
    const dml_axis *inner = &plan->axes[plan->rank - 1], *next = inner - 1;
    const int64_t channels = inner->extent, count = channels * next->extent;
    bool others = false;
    for (int k = 0; k < plan->rank - 1; k++)
        others = others || plan->axes[k].entry_stride != 0;
    if (others || DML_HOST_TURNS % channels != 0 || inner->src_stride != 1 || inner->dst_stride != plan->item ||
        next->src_stride != channels || next->dst_stride != channels * plan->item || count < DML_HOST_TURNS)
        return false;
    dml_host_computed *by = &job->computed;
    for (int64_t i = 0; i < DML_HOST_TURNS; i++) {
        const float *constants = (const void *)constants_at(by, i % channels * inner->entry_stride);
        for (int k = 0; k < DML_MOST_OPERATIONS; k++)
            by->turns[k][i] = constants[k];
    }
    by->by_turns = true;
    const int outer = plan->rank - 3;
    if (outer >= 0)
        job->taken[outer] = true;
    job->row = dml_host_blocks(plan, job, outer, INT64_MAX);
    job->col = (dml_host_axis){count, count, 1, plan->item, 0, count, 0};
    return find_windows(by, VECTOR, 1, VECTOR);
}

/* Whether a constant is NaN. Of two NaNs an operation gives the one that the compiler has put first: in each loop another. */
static bool has_nan(const dml_arithmetic *arithmetic)
{
    for (uint32_t k = 0; k < arithmetic->rows; k++)
        for (int i = 0; i < DML_MOST_OPERATIONS; i++)
            if (isnan(arithmetic->constants[k][i]))
                return true;
    return false;
}

/* Whether all entries of all rows are computed as the table has them. It depends on how the thread rounds, too. */
static bool gives_the_table(const dml_plan *plan, dml_computed_row *row)
{
    const dml_arithmetic *arithmetic = plan->arithmetic;
    const size_t bytes = (size_t)(VALUES * plan->item);
    const char *table = (const char *)plan->entries.data + arithmetic->table;
    dml_host_computed by = {.operations = arithmetic->operations};
    char values[VALUES], entries[VALUES * sizeof(float)];
    bool same = !has_nan(arithmetic) && find_windows(&by, VECTOR, 1, VECTOR);
    for (int i = 0; i < VALUES; i++)
        values[i] = (char)i;
    for (uint32_t k = 0; k < arithmetic->rows && same; k++) {
        row(&by, values, entries, arithmetic->constants[k], VALUES);
        same = memcmp(entries, table + k * bytes, bytes) == 0;
    }
    return same;
}

static void compute(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)
{
    const dml_host_computed *by = &job->computed;
    const int64_t cols = by->whole ? block->rows * block->cols : block->cols, rows = by->whole ? 1 : block->rows;
    const int64_t stride = job->col.src, more = job->row.entry / by->table * by->bytes;
    const char *constants = constants_at(by, job->entry);
    for (int64_t row = 0; row < rows; row++) {
        if (stride < 0 && row + 1 < rows)
            dml_host_ask_for(src + job->row.src + (cols - 1) * stride, -(cols - 1) * stride);
        by->row(by, src, dst, (const void *)constants, cols);
        src += job->row.src;
        dst += job->row.dst;
        constants += more;
    }
}

bool dml_host_computed_choose(const dml_plan *plan, dml_host_job *job)
{
    const dml_arithmetic *arithmetic = plan->arithmetic;
    if (!arithmetic || dml_plan_count(plan) < (int64_t)arithmetic->rows * VALUES * WORTH)
        return false;
    dml_host_computed *by = &job->computed;
    by->row = fastest(plan->item);
    if (!by->row || !gives_the_table(plan, by->row))
        return false;
    by->operations = arithmetic->operations;
    by->table = plan->entries.item;
    by->bytes = sizeof arithmetic->constants[0];
    by->constants = (const char *)arithmetic->constants[(plan->entries.offset - arithmetic->table) / by->table];
    by->by_turns = by->whole = false;
    if (!choose_turns(plan, job) && !choose_rows(plan, job))
        return false;
    job->kernel = compute;
    return true;
}
