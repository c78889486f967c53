/* Compares computed entries with those of a table, by each kernel that the processor has. Prints how many plans were compared;
 * ends with 1 where some differ, or where a plan that should be computed is looked up, or the other way round. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "host/host_computed.h"
#include "host/host_formulas.h"

enum { ROUNDS = 500, VALUES = 256, ROWS = 6, LEAST = 16 * VALUES * ROWS };

static uint64_t state = 1;
static int compared, wrong;

static uint32_t drawn(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33) % below;
}

/* An arithmetic of six rows, and the table that it gives. */
typedef struct tables {
    char entries[ROWS * VALUES * sizeof(float)];
    dml_arithmetic *arithmetic;
} tables;

static float operated(float x, uint32_t operation, float by)
{
    switch (operation) {
    case DML_OPERATION_ADD:
        return x + by;
    case DML_OPERATION_SUBTRACT:
        return x - by;
    case DML_OPERATION_SUBTRACT_FROM:
        return by - x;
    case DML_OPERATION_MULTIPLY:
        return x * by;
    case DML_OPERATION_DIVIDE:
        return x / by;
    default:
        return by / x;
    }
}

/* False for one of a constant that is no number. */
static bool draw_tables(tables *tables, int64_t item)
{
    const bool is_number = drawn(16) > 0;
    static const float special[] = {0, -1, 255, 0.225F, 1e-39F, 3e38F, 65504, 1.0F / 3};
    const uint32_t count = drawn(DML_MOST_OPERATIONS + 1), is_signed = drawn(2);
    tables->arithmetic->rows = ROWS;
    tables->arithmetic->operations = DML_OPERATION_COMPUTED | is_signed * DML_OPERATION_SIGNED;
    for (uint32_t k = 0; k < count; k++)
        tables->arithmetic->operations |= (1 + drawn(DML_OPERATION_DIVIDE_INTO)) << 4 * k;
    for (int row = 0; row < ROWS; row++) {
        float entries[VALUES];
        for (uint32_t k = 0; k < DML_MOST_OPERATIONS; k++)
            tables->arithmetic->constants[row][k] = drawn(2) ? special[drawn(8)] : (float)drawn(1000) / 7;
        if (!is_number && row == 0)
            tables->arithmetic->constants[row][drawn(DML_MOST_OPERATIONS)] = NAN;
        for (int value = 0; value < VALUES; value++) {
            float x = (float)(is_signed ? (int8_t)value : value);
            for (uint32_t k = 0; k < count; k++)
                x = operated(x, tables->arithmetic->operations >> 4 * k & 15, tables->arithmetic->constants[row][k]);
            entries[value] = x;
        }
        char *to = tables->entries + row * VALUES * item;
        if (item == 4)
            memcpy(to, entries, sizeof entries);
        else
            dml_formula_loops_plain.stores[DML_IN_F16](to, entries, NULL, NULL, VALUES);
    }
    return is_number;
}

/* What the plan says, element by element. */
static void look_up(const dml_plan *plan, const tables *tables, const unsigned char *src, char *dst)
{
    const int64_t last = plan->rank == 3 ? plan->axes[2].extent : 1;
    for (int64_t i = 0; i < plan->axes[0].extent; i++)
        for (int64_t j = 0; j < plan->axes[1].extent; j++)
            for (int64_t k = 0; k < last; k++) {
                const int64_t at[3] = {i, j, k};
                int64_t from = 0, to = 0, entry = plan->entries.offset;
                for (int axis = 0; axis < plan->rank; axis++) {
                    from += at[axis] * plan->axes[axis].src_stride;
                    to += at[axis] * plan->axes[axis].dst_stride;
                    entry += at[axis] * plan->axes[axis].entry_stride;
                }
                memcpy(dst + to, tables->entries + entry + src[from] * plan->item, (size_t)plan->item);
            }
}

static void add_axis(dml_plan *plan, int64_t extent, int64_t src_stride, int64_t dst_stride, int64_t entry_stride)
{
    dml_plan_add(plan, extent, src_stride, dst_stride);
    plan->axes[plan->rank - 1].entry_stride = entry_stride;
}

/* Rows of elements that lie apart, forwards or backwards; of parts of a vector; of channels by turns. */
static void draw_axes(dml_plan *plan)
{
    static const int64_t strides[] = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}, channels[] = {1, 2, 3, 4, 6};
    const int64_t item = plan->item, row = plan->entries.item;
    if (drawn(3) == 0) {
        const int64_t turns = channels[drawn(5)], cols = DML_HOST_TURNS / turns + drawn(90);
        const int64_t rows = LEAST / (turns * cols) + 1, gap = drawn(20);
        add_axis(plan, rows, turns * cols + gap, (turns * cols + gap) * item, 0);
        add_axis(plan, cols, turns, turns * item, 0);
        add_axis(plan, turns, 1, item, row);
    } else if (drawn(2) == 0) {
        const int64_t cols = 8 << drawn(2), stride = strides[2 + drawn(2)], rows = LEAST / cols + 2 * drawn(5);
        add_axis(plan, rows, stride * cols + drawn(20), cols * item, 0);
        add_axis(plan, cols, stride, item, 0);
    } else {
        const int64_t cols = LEAST / ROWS + drawn(90), stride = strides[drawn(12)], rows = ROWS;
        add_axis(plan, rows, dml_magnitude(stride) * cols, (cols + drawn(20)) * item, drawn(2) ? row : 0);
        add_axis(plan, cols, stride, item, 0);
    }
}

static void compare(const dml_plan *plan, const tables *tables, dml_host_job *job, dml_computed_row *row, int64_t from)
{
    int64_t read = 1, written = plan->item;
    for (int k = 0; k < plan->rank; k++) {
        read += (plan->axes[k].extent - 1) * dml_magnitude(plan->axes[k].src_stride);
        written += (plan->axes[k].extent - 1) * plan->axes[k].dst_stride;
    }
    unsigned char *src = malloc((size_t)read);
    char *expected = calloc((size_t)written, 1), *dst = calloc((size_t)written, 1);
    if (!src || !expected || !dst)
        exit(2);
    for (int64_t i = 0; i < read; i++)
        src[i] = (unsigned char)drawn(VALUES);
    job->computed.row = row;
    job->entry = 0;
    look_up(plan, tables, src + from, expected);
    job->kernel(job, (const char *)src + from, dst, &(dml_host_block){0, 0, job->row.extent, job->col.extent});
    compared++;
    if (memcmp(dst, expected, (size_t)written) != 0) {
        wrong++;
        printf("wrong: %d axes, stride %d\n", plan->rank, (int)plan->axes[plan->rank - 1].src_stride);
    }
    free(src);
    free(expected);
    free(dst);
}

int main(void)
{
    static tables tables;
    static dml_host_job job;
    tables.arithmetic = calloc(1, sizeof(dml_arithmetic) + ROWS * sizeof(float[DML_MOST_OPERATIONS]));
    if (!tables.arithmetic)
        return 2;
    for (int round = 0; round < ROUNDS && dml_computed_row_avx2(4); round++) {
        const int64_t item = drawn(2) ? 4 : 2;
        const bool is_number = draw_tables(&tables, item);
        dml_plan plan;
        dml_plan_begin(&plan, item);
        plan.src_item = 1;
        plan.arithmetic = tables.arithmetic;
        plan.entries = (dml_entries){.data = tables.entries, .item = VALUES * item};
        draw_axes(&plan);
        const dml_axis *inner = &plan.axes[plan.rank - 1];
        memset(&job, 0, sizeof job);
        dml_host_lookups_choose(&plan, &job);
        const bool is_computed = !job.entries;
        if (is_computed != is_number) {
            wrong++;
            printf("%s: %d axes, stride %d\n", is_number ? "looked up" : "computed", plan.rank, (int)inner->src_stride);
        }
        if (!is_computed)
            continue;
        const int64_t from = inner->src_stride < 0 ? (inner->extent - 1) * -inner->src_stride : 0;
        compare(&plan, &tables, &job, dml_computed_row_avx2(item), from);
        if (dml_computed_row_avx512(item))
            compare(&plan, &tables, &job, dml_computed_row_avx512(item), from);
    }
    free(tables.arithmetic);
    printf("%d plans, %d wrong\n", compared, wrong);
    return wrong > 0;
}
