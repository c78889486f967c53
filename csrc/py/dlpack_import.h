/* dmlops.from_dlpack: copying the tensors of other libraries. */
#ifndef DML_PY_DLPACK_IMPORT_H
#define DML_PY_DLPACK_IMPORT_H

#include "py/state.h"

/* Function of dmlops._core: (capsule, device), None where the caller names no device. A new array with the elements of the
 * tensor in the capsule, which is consumed unless it fails. */
PyObject *dml_dlpack_import(PyObject *module, PyObject *args);

#endif
