/* dmlops.from_dlpack: copying the tensors of other libraries. */
#ifndef DML_PY_DLPACK_IMPORT_H
#define DML_PY_DLPACK_IMPORT_H

#include "py/state.h"

/* A new array with the elements of the tensor in `capsule`, which is consumed. NULL with an exception set: it is not consumed. */
PyObject *dml_dlpack_import(dml_state *state, PyObject *capsule, PyObject *device);

#endif
