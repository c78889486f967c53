/* How a failure below the Python edge becomes an exception. */
#ifndef DML_PY_ERRORS_H
#define DML_PY_ERRORS_H

#include "base/status.h"
#include "py/state.h"

/* Makes the exception classes and adds them to the module. 0, or -1 with an exception set. */
int dml_errors_init(dml_state *state, PyObject *module);

/* Raises what `status` says, unless an exception is set; always returns NULL. */
PyObject *dml_raise(const dml_state *state, const dml_status *status);

/* From here on the calling thread ends the interpreter. */
void dml_errors_exit(void);

/* Where NumPy has raised that it can make no array of an argument, a TypeError or ValueError: names the argument, and says so
 * where DLPack would do. May run Python. */
void dml_no_array(const char *name, PyObject *object);

/* Raises TypeError "NAME must be WANTED, not TYPE-OF-FOUND"; always returns -1. */
int dml_type_error(const char *name, const char *wanted, PyObject *found);

#endif
