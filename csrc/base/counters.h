/* Counts of what the process has done since it began, or was forked: dmlops.counters() shows them. */
#ifndef DML_BASE_COUNTERS_H
#define DML_BASE_COUNTERS_H

#include <stdint.h>

/* In the order of the fields of dmlops.Counters, from `programs_made` on. */
typedef enum dml_counter {
    DML_PROGRAMS_MADE, /* of fused functions */
    DML_PROGRAMS_DROPPED,
    DML_KERNELS_COMPILED,
    DML_COMPILE_NS,
    DML_QUEUE_WAITS,
    DML_QUEUE_WAIT_NS,
    DML_IMPORTS,
    DML_IMPORTED_BYTES,
    DML_STAGED_CHUNKS,
    DML_STAGED_BYTES,
    DML_POOL_HITS,
    DML_POOL_MISSES,
    DML_HOST_PEAK_BYTES,
    DML_DEVICE_PEAK_BYTES,
    DML_COUNTERS
} dml_counter;

/* From any thread. */
void dml_count(dml_counter counter, uint64_t by);
uint64_t dml_counted(dml_counter counter);

/* Raises a peak to what is in use now. */
void dml_count_peak(dml_counter peak, uint64_t in_use);

/* Bytes of device arrays come or go, of any device; raises DML_DEVICE_PEAK_BYTES. */
void dml_count_device_bytes(int64_t change);

/* --- calls; by one thread at a time, as those that have the GIL --- */

enum {
    DML_COUNTED_DEVICES = 65, /* the host, and Vulkan devices */
    DML_NAME_BYTES = 96,      /* of a row; what is longer is cut */
    DML_MOST_ROWS = 1024      /* names beyond these share the last row */
};

/* Successful calls of one operator, or of the fused functions of one name: [0] on the host, [1 + index] on a device. */
typedef struct dml_row {
    char name[DML_NAME_BYTES];
    uint64_t calls[DML_COUNTED_DEVICES];
    uint64_t bytes[DML_COUNTED_DEVICES]; /* of results */
    uint64_t found;                      /* of fused functions: calls that have found their program */
} dml_row;

/* By their numbers, and how many there are. Static, so that a name takes no memory and cannot fail. */
extern dml_row dml_call_rows[DML_MOST_ROWS];
extern int dml_call_row_count;

/* The number of the row of a name, which stays. */
int dml_row_named(const char *name);

/* In the child of a fork: everything counts from 0. */
void dml_counters_reset(void);

#endif
