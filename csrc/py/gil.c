#include "py/gil.h"

static _Thread_local dml_gil *lent; /* the innermost */

void dml_gil_lend(dml_gil *gil)
{
    *gil = (dml_gil){.outer = lent};
    lent = gil;
}

void dml_gil_reclaim(const dml_gil *gil)
{
    lent = gil->outer;
    if (gil->released)
        PyEval_RestoreThread(gil->released);
}

void dml_gil_release(void)
{
    if (lent && !lent->released)
        lent->released = PyEval_SaveThread();
}
