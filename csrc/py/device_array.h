/* Arrays that stay on a device: dmlops.DeviceArray. Every function needs the GIL.
 *
 * An array is a view: a reference to an allocation, with a dtype, a shape, strides and an offset. Its elements never share
 * bytes, and its views are made by basic indexing alone, so neither do theirs. Arrays of the host's device are in host memory,
 * and what is done with them is done at once. */
#ifndef DML_PY_DEVICE_ARRAY_H
#define DML_PY_DEVICE_ARRAY_H

#include "plan/tensor.h"
#include "py/device_choice.h"
#include "py/state.h"

typedef struct dml_device_array {
    PyObject_HEAD
    dml_allocation *allocation; /* owned */
    PyArray_Descr *dtype;       /* owned */
    dml_choice device;
    int64_t offset; /* bytes in the allocation */
    dml_tensor tensor;
} dml_device_array;

bool dml_same_device(const dml_choice *a, const dml_choice *b);

bool dml_is_device_array(const dml_state *state, PyObject *object);

/* A new C-contiguous array of `shape`, whose bytes are undefined. `beside` is an allocation of the same device, if there is one
 * already: pooled memory then comes without letting other threads run. A new reference, or NULL with an exception set. */
PyObject *dml_device_array_new(const dml_state *state, const dml_choice *device, const dml_allocation *beside,
                               PyArray_Descr *dtype, const dml_tensor *shape);

/* A new view of what `of` is a view of. A new reference, or NULL with an exception set. */
PyObject *dml_device_array_view(dml_device_array *of, int64_t offset, const dml_tensor *tensor);

/* Waits for all that is queued on the array. 0, or -1 with an exception set. */
int dml_device_array_wait(const dml_state *state, dml_device_array *array);

/* Makes the type, with its attributes and methods, and adds it to the module. 0, or -1 with an exception set. */
int dml_device_type_init(dml_state *state, PyObject *module);

#endif
