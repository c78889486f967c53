#include "py/progress.h"

#include "core/portion.h"

int dml_progress_from(PyObject **device, dml_progress *progress)
{
    progress->function = NULL;
    if (!PyTuple_CheckExact(*device) || PyTuple_Size(*device) != 3 || !PyCallable_Check(PyTuple_GetItem(*device, 1)))
        return 0;
    progress->function = PyTuple_GetItem(*device, 1);
    progress->portion = PyLong_AsLongLong(PyTuple_GetItem(*device, 2));
    *device = PyTuple_GetItem(*device, 0);
    return progress->portion == -1 && PyErr_Occurred() ? -1 : 0;
}

typedef struct run {
    dml_portions portions; /* first: dml_portions_run passes it on */
    const dml_progress *progress;
    const dml_backend *backend;
    int index;
    const dml_transfer *whole;
    int64_t done, all; /* bytes */
    dml_status *status;
} run;

/* False with an exception set if the function raises. */
static bool report(const run *run)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(run->progress->function, "LL", (long long)run->done, (long long)run->all);
    bool raised = !result;
    Py_XDECREF(result);
    PyGILState_Release(gil);
    if (raised)
        (void)dml_fail(run->status, DML_INTERRUPTED, "the function that progress names has raised");
    return !raised;
}

static bool run_portion(dml_portions *portions, const dml_program *program, int64_t bytes)
{
    run *self = (run *)portions;
    dml_transfer transfer = *self->whole;
    transfer.program = program;
    if (self->backend->run(self->index, &transfer, true, self->status) ||
        (transfer.results[0].allocation && self->backend->wait(self->index, self->status)))
        return false;
    self->done += bytes;
    return report(self);
}

dml_code dml_progress_run(const dml_progress *progress, const dml_backend *backend, int index, const dml_transfer *transfer,
                          dml_status *status)
{
    run self = {
        .portions = {.program = transfer->program, .most = progress->portion > 0 ? progress->portion : 1, .run = run_portion},
        .progress = progress,
        .backend = backend,
        .index = index,
        .whole = transfer,
        .all = dml_program_bytes(transfer->program),
        .status = status};
    return report(&self) && dml_portions_run(&self.portions) ? DML_OK : status->code;
}
