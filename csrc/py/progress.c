#include "py/progress.h"

#include "py/gil.h"
#include "resampling/resize.h"

PyObject *dml_progress_from(PyObject *how, dml_progress *progress)
{
    PyObject *row;
    return PyArg_Parse(how, "(OLO):progress", &progress->function, &progress->portion, &row) ? row : NULL;
}

typedef struct watched {
    dml_portions portions; /* first: dml_portions_run passes it on */
    const dml_progress *progress;
    const dml_backend *backend;
    int index;
    const dml_transfer *whole;
    int64_t done, all; /* bytes */
    dml_status *status;
} watched;

/* False with an exception set if the function raises. */
static bool report(const watched *watched)
{
    dml_python python;
    dml_python_begin(&python);
    PyObject *result =
        PyObject_CallFunction(watched->progress->function, "LL", (long long)watched->done, (long long)watched->all);
    bool raised = !result;
    Py_XDECREF(result);
    dml_python_end(&python);
    if (raised)
        (void)dml_fail(watched->status, DML_INTERRUPTED, "the function that progress names has raised");
    return !raised;
}

static bool run_portion(dml_portions *portions, const dml_program *program, int64_t bytes)
{
    watched *self = (watched *)portions;
    dml_transfer transfer = *self->whole;
    transfer.program = program;
    if (self->backend->run(self->index, &transfer, self->status) ||
        (transfer.results[0].allocation && self->backend->wait(self->index, self->status)))
        return false;
    self->done += bytes;
    return report(self);
}

dml_code dml_progress_run(const dml_progress *progress, const dml_backend *backend, int index, const dml_transfer *transfer,
                          dml_status *status)
{
    watched self = {
        .portions = {.program = transfer->program, .most = progress->portion > 0 ? progress->portion : 1, .run = run_portion},
        .progress = progress,
        .backend = backend,
        .index = index,
        .whole = transfer,
        .all = dml_program_bytes(transfer->program),
        .status = status};
    const bool done = report(&self) && (transfer->program->resize ? dml_resize_portions : dml_portions_run)(&self.portions);
    return done ? DML_OK : status->code;
}
