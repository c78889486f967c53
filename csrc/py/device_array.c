#include "py/device_array.h"

#include "py/arrays.h"
#include "py/errors.h"
#include "py/gil.h"
#include "py/result_memory.h"

bool dml_is_device_array(const dml_state *state, PyObject *object)
{
    return (PyObject *)Py_TYPE(object) == state->device_array_type;
}

bool dml_same_device(const dml_choice *a, const dml_choice *b)
{
    return a->host == b->host && a->index == b->index;
}

/* Steals the allocation, also if it fails. */
static PyObject *array_new(PyTypeObject *type, dml_allocation *allocation, PyArray_Descr *dtype, const dml_choice *device,
                           int64_t offset, const dml_tensor *tensor)
{
    dml_device_array *array = (dml_device_array *)PyType_GenericAlloc(type, 0);
    if (!array) {
        dml_allocation_release(allocation);
        return NULL;
    }
    Py_INCREF((PyObject *)dtype);
    array->allocation = allocation;
    array->dtype = dtype;
    array->device = *device;
    array->offset = offset;
    dml_tensor_copy(&array->tensor, tensor);
    return (PyObject *)array;
}

PyObject *dml_device_array_new(const dml_state *state, const dml_choice *device, const dml_allocation *beside,
                               PyArray_Descr *dtype, const dml_tensor *shape)
{
    if (dml_shape_check(shape) < 0 || dml_memory_ready() < 0)
        return NULL;
    dml_tensor tensor;
    dml_tensor_copy_shape(&tensor, shape);
    dml_tensor_pack(&tensor);
    uint64_t bytes = (uint64_t)dml_tensor_bytes(&tensor);
    const dml_backend *backend = dml_backend_of(device);
    dml_allocation *allocation;
    dml_status status;
    dml_gil gil;
    dml_gil_lend(&gil);
    dml_code code = backend->allocate(device->index, beside, bytes, &allocation, &status);
    dml_gil_reclaim(&gil);
    if (code)
        return dml_raise(state, &status);
    return array_new((PyTypeObject *)state->device_array_type, allocation, dtype, device, 0, &tensor);
}

PyObject *dml_device_array_view(dml_device_array *of, int64_t offset, const dml_tensor *tensor)
{
    dml_allocation_retain(of->allocation);
    return array_new(Py_TYPE((PyObject *)of), of->allocation, of->dtype, &of->device, offset, tensor);
}

int dml_device_array_wait(const dml_state *state, dml_device_array *array)
{
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_allocation_wait(array->allocation, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        dml_raise(state, &status);
    return code ? -1 : 0;
}
