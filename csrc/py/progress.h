/* Calls that report how far they have come: see dmlops/progress.py. */
#ifndef DML_PY_PROGRESS_H
#define DML_PY_PROGRESS_H

#include "device/backend.h"
#include "py/python.h"

typedef struct dml_progress {
    PyObject *function; /* borrowed, of the bytes done and all; NULL: nothing is reported */
    long long portion;  /* bytes */
} dml_progress;

/* From a tuple of these and of the number of the row where the call is counted (call_counts.h), as dmlops.progress makes it.
 * The number, borrowed; NULL with an exception set. */
PyObject *dml_progress_from(PyObject *how, dml_progress *progress);

/* Runs a transfer in portions, calls the function before and after each, and waits for them. DML_INTERRUPTED, with an exception
 * set, if the function raises. */
dml_code dml_progress_run(const dml_progress *progress, const dml_backend *backend, int index, const dml_transfer *transfer,
                          dml_status *status);

#endif
