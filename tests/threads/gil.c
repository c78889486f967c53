/* Two calls on one thread, each with Python code that the other runs in, as greenlets have it: the first one ends first, and
 * what it had on its stack is overwritten. Python's functions are played. Ends with 1 where the GIL is released or acquired by
 * somebody who may not. */
#include <stdio.h>
#include <string.h>

#include "py/gil.h"

static int held = 1, wrong;

static void expect(int right, const char *what)
{
    if (right)
        return;
    printf("%s\n", what);
    wrong = 1;
}

PyThreadState *PyEval_SaveThread(void)
{
    expect(held, "released twice");
    held = 0;
    return (PyThreadState *)&held;
}

void PyEval_RestoreThread(PyThreadState *state)
{
    expect(state == (PyThreadState *)&held && !held, "acquired twice");
    held = 1;
}

PyGILState_STATE PyGILState_Ensure(void)
{
    const PyGILState_STATE state = held ? PyGILState_LOCKED : PyGILState_UNLOCKED;
    held = 1;
    return state;
}

void PyGILState_Release(PyGILState_STATE state)
{
    held = state == PyGILState_LOCKED;
}

/* What Python code calls that is without the GIL already, and about to block. */
static void wait_without_it(void)
{
    PyThreadState *state = PyEval_SaveThread();
    dml_gil_release();
    PyEval_RestoreThread(state);
}

int main(void)
{
    dml_gil first, second, brief;
    dml_python in_first, in_second;
    dml_gil_release(); /* nothing is lent */
    expect(held, "released without a call");
    dml_gil_lend(&first);
    dml_python_begin(&in_first);
    expect(held, "Python code without the GIL");
    const dml_gil kept = first;
    memset(&first, 0, sizeof first); /* its stack is another's now */
    wait_without_it();
    dml_gil_lend(&second);
    dml_gil_release();
    dml_gil_release();
    expect(!held, "kept by a call that blocks");
    dml_python_begin(&in_second);
    first = kept;
    dml_python_end(&in_first);
    expect(!held, "kept by a call that goes on");
    dml_gil_reclaim(&first);
    memset(&first, 0, sizeof first);
    wait_without_it();
    dml_python_end(&in_second);
    dml_gil_release();
    dml_gil_reclaim(&second);
    wait_without_it();
    dml_gil_lend(&brief);
    dml_gil_reclaim(&brief);
    expect(held, "released at the end");
    return wrong;
}
