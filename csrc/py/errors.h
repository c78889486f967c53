/* How failures become exceptions. */
#ifndef DML_PY_ERRORS_H
#define DML_PY_ERRORS_H

#include <stdbool.h>

#include "base/status.h"
#include "py/state.h"

/* A str of whatever bytes a driver has chosen. */
PyObject *dml_text(const char *bytes);

/* Raises what `status` says, unless an exception is set; always returns NULL. */
PyObject *dml_raise(const dml_state *state, const dml_status *status);

/* The calling thread is about to end the interpreter. */
void dml_errors_exit(void);

/* Called when NumPy has raised that it can make no array of an argument. Replaces a TypeError or ValueError by one that names
 * the argument and what would do. May run Python. */
void dml_no_array(const char *name, PyObject *object);

/* Raises TypeError for a str, or an array whose elements are not plain bytes. May run Python. */
void dml_not_plain(const char *name, PyObject *object);

/* Whether an argument is an array of Dask or Zarr, which may be larger than memory; if so, raises TypeError. May run Python. */
bool dml_refuse_lazy(const char *name, PyObject *object);

/* Raises TypeError "NAME must be WANTED, not TYPE-OF-FOUND"; always returns -1. */
int dml_type_error(const char *name, const char *wanted, PyObject *found);

#endif
