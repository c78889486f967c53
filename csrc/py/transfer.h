/* Moving elements between arrays of either kind: uploads, downloads, dmlops.asarray and dmlops.empty. */
#ifndef DML_PY_TRANSFER_H
#define DML_PY_TRANSFER_H

#include "py/device_array.h"
#include "py/state.h"

/* One side of a transfer. */
typedef struct dml_endpoint {
    PyObject *owner; /* of the memory; borrowed */
    dml_choice device;
    dml_operand operand;
    dml_tensor tensor;
} dml_endpoint;

/* NumPy arrays are on the host. */
void dml_endpoint_init(dml_endpoint *endpoint, PyObject *array);

/* The plan that copies one tensor to another of the same shape. */
void dml_copy_plan(const dml_tensor *from, const dml_tensor *to, dml_plan *plan);

/* Copies `from` to `to`, which have the same shape and item, share no memory, and are on the same device unless one of them is
 * in host memory. 0, or -1 with an exception set; where the device may still be at work then, both owners stay alive for
 * good. */
int dml_move(const dml_state *state, const dml_endpoint *from, const dml_endpoint *to);

/* A new array on `device` with the elements of `from`, which are there or in host memory, unless `device` is the host. A new
 * reference, or NULL with an exception set. */
PyObject *dml_upload(const dml_state *state, const dml_choice *device, PyArray_Descr *dtype, const dml_endpoint *from);

/* A C-contiguous copy on `device`, which may be another one; or as a NumPy array, `out` unless that is None. A new reference,
 * or NULL with an exception set. */
PyObject *dml_device_array_copy(dml_state *state, dml_device_array *array, const dml_choice *device);
PyObject *dml_device_array_numpy(dml_state *state, dml_device_array *array, PyObject *out);

/* Functions of dmlops._core: (obj, dtype, device, copy) and (shape, dtype, device), None where the caller left one out.
 * `copy` is a bool. */
PyObject *dml_asarray(PyObject *module, PyObject *args);
PyObject *dml_empty(PyObject *module, PyObject *args);

#endif
