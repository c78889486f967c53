/* dmlops.asarray and dmlops.empty: making device arrays. */
#ifndef DML_PY_ASARRAY_H
#define DML_PY_ASARRAY_H

#include "py/state.h"

/* Functions of dmlops._core: (obj, dtype, device, copy) and (shape, dtype, device), None where the caller left one out.
 * `copy` is a bool. */
PyObject *dml_asarray(PyObject *module, PyObject *args);
PyObject *dml_empty(PyObject *module, PyObject *args);

#endif
