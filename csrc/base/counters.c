#include "base/counters.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

dml_row dml_call_rows[DML_MOST_ROWS];
int dml_call_row_count;

/* No count orders other memory: all are relaxed. */
static struct {
    atomic_ullong counts[DML_COUNTERS];
    atomic_llong device_bytes; /* in use */
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

int dml_row_named(const char *name)
{
    char cut[DML_NAME_BYTES];
    int number = 0;
    snprintf(cut, sizeof cut, "%s", name);
    while (number < dml_call_row_count && strcmp(dml_call_rows[number].name, cut) != 0)
        number++;
    if (number == DML_MOST_ROWS)
        return DML_MOST_ROWS - 1;
    if (number == dml_call_row_count) {
        snprintf(dml_call_rows[number].name, sizeof cut, "%s", number < DML_MOST_ROWS - 1 ? cut : "others");
        dml_call_row_count++;
    }
    return number;
}

void dml_counters_reset(void)
{
    for (int i = 0; i < DML_COUNTERS; i++)
        state.counts[i] = 0;
    state.device_bytes = 0;
    for (int i = 0; i < dml_call_row_count; i++) {
        memset(dml_call_rows[i].calls, 0, sizeof dml_call_rows[i].calls);
        memset(dml_call_rows[i].bytes, 0, sizeof dml_call_rows[i].bytes);
        dml_call_rows[i].found = 0;
    }
}
