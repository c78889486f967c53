#include "base/counters.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dml_row *dml_call_rows[DML_MOST_ROWS + 1];

/* No count orders other memory: all are relaxed. */
static struct {
    atomic_ullong counts[DML_COUNTERS];
    atomic_llong device_bytes; /* in use */
    int row_count;
} state;

void dml_count(dml_counter counter, uint64_t by)
{
    atomic_fetch_add_explicit(&state.counts[counter], by, memory_order_relaxed);
}

uint64_t dml_counted(dml_counter counter)
{
    return atomic_load_explicit(&state.counts[counter], memory_order_relaxed);
}

void dml_count_peak(dml_counter peak, uint64_t in_use)
{
    unsigned long long known = dml_counted(peak);
    while (in_use > known && !atomic_compare_exchange_weak_explicit(&state.counts[peak], &known, in_use, memory_order_relaxed,
                                                                    memory_order_relaxed))
        ;
}

void dml_count_device_bytes(int64_t change)
{
    const int64_t before = atomic_fetch_add_explicit(&state.device_bytes, change, memory_order_relaxed);
    if (change > 0)
        dml_count_peak(DML_DEVICE_PEAK_BYTES, (uint64_t)(before + change));
}

/* `row_count` where there is none of that name. */
static int find_row(const char *name)
{
    int number = 0;
    while (number < state.row_count && strcmp(dml_call_rows[number]->name, name) != 0)
        number++;
    return number;
}

int dml_row_named(const char *name)
{
    char cut[DML_NAME_BYTES];
    snprintf(cut, sizeof cut, "%s", name);
    int number = find_row(cut);
    if (number == DML_MOST_ROWS)
        return DML_MOST_ROWS - 1;
    if (number < state.row_count)
        return number;
    dml_row *row = calloc(1, sizeof *row);
    if (!row)
        return -1; /* uncovered: no memory for a few hundred bytes */
    snprintf(row->name, sizeof row->name, "%s", number < DML_MOST_ROWS - 1 ? cut : "others");
    dml_call_rows[state.row_count] = row;
    return state.row_count++;
}

void dml_counters_reset(void)
{
    for (int i = 0; i < DML_COUNTERS; i++)
        state.counts[i] = 0;
    state.device_bytes = 0;
    for (int i = 0; i < state.row_count; i++) {
        memset(dml_call_rows[i]->calls, 0, sizeof dml_call_rows[i]->calls);
        memset(dml_call_rows[i]->bytes, 0, sizeof dml_call_rows[i]->bytes);
        dml_call_rows[i]->found = 0;
    }
}
