/* The GIL, lent to a call of csrc: it is released when the call is about to block, and else kept, since handing it over costs
 * more than queueing work on a device or moving a few bytes. */
#ifndef DML_PY_GIL_H
#define DML_PY_GIL_H

#include "py/python.h"

typedef struct dml_gil {
    PyThreadState *released; /* NULL: it is still held */
    struct dml_gil *outer;   /* that of the call which has run the Python that made this one */
} dml_gil;

/* Around such a call. The GIL is acquired again by dml_gil_reclaim, not before: who has it may wait for the call, as a fork
 * does. */
void dml_gil_lend(dml_gil *gil);
void dml_gil_reclaim(const dml_gil *gil);

/* Releases what is lent, once; what dml_about_to_block does. Comes before any Python that a call runs. */
void dml_gil_release(void);

#endif
