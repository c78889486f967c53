/* Arrays that stay on a device: dmlops.DeviceArray. Every function needs the GIL.
 *
 * An array is a view: a reference to a allocation, with a dtype, a shape, strides and an offset. Its elements never share bytes, and
 * its views are made by basic indexing alone, so neither do theirs. Arrays of the host's device are in host memory, and what
 * is done with them is done at once.
 */
#ifndef DML_PY_DEVICE_ARRAY_H
#define DML_PY_DEVICE_ARRAY_H

#include "core/operators.h"
#include "py/device_choice.h"
#include "py/module.h"
#include "vk/vk.h"

typedef struct dml_device_array {
    PyObject_HEAD
    dml_allocation *allocation; /* owned */
    PyArray_Descr *dtype; /* owned */
    dml_choice device;
    int64_t offset; /* bytes in the allocation */
    dml_tensor tensor;
} dml_device_array;

bool dml_is_device_array(const dml_state *state, PyObject *object);

/* Of a device array: see the functions of the same names in arrays.h. */
void dml_device_array_describe(PyObject *array, dml_tensor *tensor);
dml_operand dml_device_array_operand(PyObject *array);
PyArray_Descr *dml_device_array_dtype(PyObject *array);

/* A new C-contiguous array of `shape`, whose bytes are undefined. `beside` is a allocation of the same device, if there is one already.
 * A new reference, or NULL with an exception set. */
PyObject *dml_device_array_new(const dml_state *state, const dml_choice *device, const dml_allocation *beside,
                               PyArray_Descr *dtype, const dml_tensor *shape);

/* A new view of what `of` is a view of. A new reference, or NULL with an exception set. */
PyObject *dml_device_array_view(dml_device_array *of, int64_t offset, const dml_tensor *tensor);

/* Waits for all that is queued on the array. 0, or -1 with an exception set. */
int dml_device_array_wait(const dml_state *state, dml_device_array *array);

bool dml_same_device(const dml_choice *a, const dml_choice *b);

/* device_type.c: makes the type dmlops.DeviceArray, 0, or -1 with an exception set; a new tuple of a tensor's shape. */
int dml_device_array_init(dml_state *state, PyObject *module);
PyObject *dml_shape_tuple(const dml_tensor *tensor);

/* views.c: a[key]; a.reshape(...), a.transpose(...), each given its arguments as a tuple; a.T. No work for the device. */
PyObject *dml_view_index(PyObject *self, PyObject *key);
PyObject *dml_view_reshape(PyObject *self, PyObject *args);
PyObject *dml_view_transpose(PyObject *self, PyObject *args);
PyObject *dml_view_t(PyObject *self, void *closure);

/* transfer.c: `object` as an array on a device, see dmlops.asarray; an array of undefined bytes. */
PyObject *dml_asarray(dml_state *state, PyObject *object, PyObject *dtype, PyObject *device, PyObject *copy);
PyObject *dml_empty(dml_state *state, PyObject *shape, PyObject *dtype, PyObject *device);

/* transfer.c: a contiguous copy on `device`, which may be another one; as a NumPy array; a[key] = value, 0 or -1. */
PyObject *dml_device_array_copy(dml_state *state, dml_device_array *array, const dml_choice *device);
PyObject *dml_device_array_numpy(dml_state *state, dml_device_array *array, PyObject *out);
int dml_device_array_assign(dml_state *state, PyObject *self, PyObject *key, PyObject *value);

/* One end of a transfer: elements, and the object that keeps their memory. */
typedef struct dml_endpoint {
    PyObject *owner;
    dml_operand place;
    dml_tensor tensor;
} dml_endpoint;

/* An array of either kind as an end; borrows it. */
void dml_endpoint_init(dml_endpoint *end, PyObject *array);

/* Moves `from` to `to`, which have the same shape and item, and share no memory. 0, or -1 with an exception set; where the device may
 * still be at work then, both owners stay alive for good. */
int dml_move(const dml_state *state, const dml_choice *device, const dml_endpoint *from, const dml_endpoint *to);

/* A new array on `device` with the elements of `from`. A new reference, or NULL with an exception set. */
PyObject *dml_upload(const dml_state *state, const dml_choice *device, PyArray_Descr *dtype, const dml_endpoint *from);

/* dlpack.c: a.__dlpack__(...) and a.__dlpack_device__(); a new array of what a capsule holds, which is used up. */
PyObject *dml_dlpack_export(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *dml_dlpack_device(PyObject *self, PyObject *none);
PyObject *dml_dlpack_import(dml_state *state, PyObject *capsule, PyObject *device);

#endif
