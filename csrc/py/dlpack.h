/* DeviceArray.__dlpack__ and __dlpack_device__, which lend arrays to other libraries, and dmlops.from_dlpack, which copies the
 * tensors of other libraries. */
#ifndef DML_PY_DLPACK_H
#define DML_PY_DLPACK_H

#include "py/state.h"

/* A new capsule. Views with negative strides are shared with NumPy only; other consumers get a copy, since some of them end the
 * process when they meet a negative stride. */
PyObject *dml_dlpack_export(PyObject *self, PyObject *args, PyObject *kwargs);

PyObject *dml_dlpack_device(PyObject *self, PyObject *none);

/* Function of dmlops._core: (capsule, device), None where the caller names no device. A new array with the elements of the
 * tensor in the capsule, which is consumed unless it fails. */
PyObject *dml_dlpack_import(PyObject *module, PyObject *args);

#endif
