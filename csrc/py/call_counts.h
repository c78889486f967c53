/* Calls are counted by name and device, for dmlops.counters(). Every function needs the GIL. */
#ifndef DML_PY_CALL_COUNTS_H
#define DML_PY_CALL_COUNTS_H

#include <stdbool.h>

#include "base/counters.h"
#include "ops/operator.h"
#include "py/device_choice.h"
#include "py/python.h"

/* Rows that are always there. An operator's has its name. */
#define DML_ROW_OF(name) DML_ROW_##name,
enum { DML_OPERATORS(DML_ROW_OF) DML_ROW_RESAMPLE, DML_ROW_PROGRAM, DML_ROW_UPLOAD, DML_ROW_DOWNLOAD, DML_ROW_COPY };

/* Of a row's number that Python passes: the call is of a fused function that has found its program. */
enum { DML_FOUND = 1 << 16 };

/* Where a call is counted: a row's number, or -1 for a part of another call. */
typedef struct dml_counted_as {
    int row;
    bool found;
} dml_counted_as;

/* Before all others. Gives the module DML_FOUND, as _FOUND. 0, or -1 with an exception set. */
int dml_call_counts_init(PyObject *module);

/* Reads the number that Python passes. 0, or -1 with an exception set. */
int dml_counted_as_from(PyObject *number, dml_counted_as *as);

/* A call has returned, with so many bytes of results. */
static inline void dml_call_count(dml_counted_as as, const dml_choice *device, int64_t bytes)
{
    const int column = device->host ? 0 : 1 + device->index;
    if (as.row < 0)
        return;
    dml_row *row = &dml_call_rows[as.row];
    row->calls[column]++;
    row->bytes[column] += (uint64_t)bytes;
    row->found += as.found;
}

/* Functions of dmlops._core: (name), the number of its row; (made, dropped), programs of fused functions; (), two lists: of
 * (name, index of the device or None, calls, bytes); and of programs found, and the other counts as dml_counter has them. */
PyObject *dml_row_number(PyObject *module, PyObject *name);
PyObject *dml_count_programs(PyObject *module, PyObject *args);
PyObject *dml_counters_list(PyObject *module, PyObject *none);

#endif
