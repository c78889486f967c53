/* DeviceArray.__dlpack__ and DeviceArray.__dlpack_device__: lending arrays to other libraries. */
#ifndef DML_PY_DLPACK_EXPORT_H
#define DML_PY_DLPACK_EXPORT_H

#include "py/python.h"

/* A new capsule. Views with negative strides are shared with NumPy only; other consumers get a copy, since some of them end the
 * process when they meet a negative stride. */
PyObject *dml_dlpack_export(PyObject *self, PyObject *args, PyObject *kwargs);

PyObject *dml_dlpack_device(PyObject *self, PyObject *none);

#endif
