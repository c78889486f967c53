#include "py/gil.h"

#include <stddef.h>

static _Thread_local dml_gil *lent; /* NULL while Python code runs */

void dml_gil_lend(dml_gil *gil)
{
    gil->released = NULL;
    lent = gil;
}

void dml_gil_reclaim(const dml_gil *gil)
{
    lent = NULL;
    if (gil->released)
        PyEval_RestoreThread(gil->released);
}

void dml_gil_release(void)
{
    if (lent && !lent->released)
        lent->released = PyEval_SaveThread();
}

void dml_python_begin(dml_python *python)
{
    dml_gil_release();
    python->lent = lent;
    lent = NULL;
    python->state = PyGILState_Ensure();
}

void dml_python_end(const dml_python *python)
{
    PyGILState_Release(python->state);
    lent = python->lent;
}
