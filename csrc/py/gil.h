/* The GIL, lent to a call of csrc: it is released when the call is about to block, and else kept, since handing it over costs
 * more than queueing work on a device or moving a few bytes. */
#ifndef DML_PY_GIL_H
#define DML_PY_GIL_H

#include "py/python.h"

typedef struct dml_gil {
    PyThreadState *released; /* NULL: it is still held */
} dml_gil;

/* Around such a call. The GIL is acquired again by dml_gil_reclaim, not before: who has it may wait for the call, as a fork
 * does. */
void dml_gil_lend(dml_gil *gil);
void dml_gil_reclaim(const dml_gil *gil);

/* Releases what is lent, once; what dml_about_to_block does. */
void dml_gil_release(void);

/* Around Python code that a call runs: it has the GIL, and nothing is lent. So it may call again, and it may be a greenlet,
 * which leaves its stack to others that call in between. */
typedef struct dml_python {
    dml_gil *lent; /* or NULL */
    PyGILState_STATE state;
} dml_python;

void dml_python_begin(dml_python *python);
void dml_python_end(const dml_python *python);

#endif
