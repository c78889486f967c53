/* dmlops.asarray and dmlops.empty: making device arrays. */
#ifndef DML_PY_ASARRAY_H
#define DML_PY_ASARRAY_H

#include "py/state.h"

/* The arguments of the public functions; None where the caller left one out. A new reference, or NULL with an exception set. */
PyObject *dml_asarray(dml_state *state, PyObject *object, PyObject *dtype, PyObject *device, PyObject *copy);
PyObject *dml_empty(dml_state *state, PyObject *shape, PyObject *dtype, PyObject *device);

#endif
