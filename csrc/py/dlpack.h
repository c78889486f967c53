/* DLPack's capsules: those by which DeviceArray.__dlpack__ lends arrays to other libraries, and those of other libraries, whose
 * tensors dmlops.from_dlpack copies. */
#ifndef DML_PY_DLPACK_H
#define DML_PY_DLPACK_H

#include "py/state.h"

/* Function of dmlops._core: (device array) -> the type and index of its device, and whether the host sees its memory. */
PyObject *dml_dlpack_places(PyObject *module, PyObject *array);

/* Function of dmlops._core: (device array, type code and bits of its elements, type and index of the device that it is offered
 * on, whether for DLPack 1, whether it is a copy). A new capsule, once all that is queued on the array is done. */
PyObject *dml_dlpack_export(PyObject *module, PyObject *args);

/* Function of dmlops._core: (capsule, device), None where the caller names no device. A new array with the elements of the
 * tensor in the capsule, which is consumed unless it fails. */
PyObject *dml_dlpack_import(PyObject *module, PyObject *args);

#endif
