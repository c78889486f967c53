/* Other libraries' tensors, by DLPack: dmlops.from_dlpack copies them. */
#ifndef DML_PY_DLPACK_IMPORT_H
#define DML_PY_DLPACK_IMPORT_H

#include "py/python.h"

/* Function of dmlops._core: (device, as in calls) -> the number of the device as CUDA counts it, or a str that says why it is
 * none of CUDA's. */
PyObject *dml_dlpack_cuda(PyObject *module, PyObject *device);

/* Function of dmlops._core: (capsule, device), None where the caller names no device. A new array with the elements of the
 * tensor in the capsule, which is consumed unless it fails. */
PyObject *dml_dlpack_import(PyObject *module, PyObject *args);

#endif
