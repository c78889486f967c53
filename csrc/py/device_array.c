/* Arrays that stay on a device, as the rest of csrc/py sees them: what they are, making them, waiting for them. */
#include "py/device_array.h"

#include <string.h>

#include "py/arrays.h"
#include "base/cache.h"
#include "py/errors.h"
#include "py/result_memory.h"

bool dml_is_device_array(const dml_state *state, PyObject *object)
{
    return Py_TYPE(object) == state->device_array_type;
}

bool dml_same_device(const dml_choice *a, const dml_choice *b)
{
    return a->host == b->host && a->index == b->index;
}

/* The axes there are: most tensors have far fewer than there is room for. */
static void copy_tensor(dml_tensor *to, const dml_tensor *from)
{
    to->rank = from->rank;
    to->item = from->item;
    memcpy(to->shape, from->shape, sizeof from->shape[0] * (size_t)from->rank);
    memcpy(to->strides, from->strides, sizeof from->strides[0] * (size_t)from->rank);
}

void dml_device_array_describe(PyObject *array, dml_tensor *tensor)
{
    copy_tensor(tensor, &((dml_device_array *)array)->tensor);
}

dml_operand dml_device_array_operand(PyObject *self)
{
    const dml_device_array *array = (dml_device_array *)self;
    if (array->device.host)
        return (dml_operand){.data = (char *)dml_allocation_data(array->allocation) + array->offset};
    return (dml_operand){.allocation = array->allocation, .offset = (uint64_t)array->offset};
}

PyArray_Descr *dml_device_array_dtype(PyObject *array)
{
    return ((dml_device_array *)array)->dtype;
}

/* --- making ------------------------------------------------------------------------------------------------------ */

/* Takes the allocation, also if it fails. */
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
    copy_tensor(&array->tensor, tensor);
    return (PyObject *)array;
}

static dml_allocation *allocation_on_host(uint64_t bytes)
{
    if (dml_memory_ready() < 0)
        return NULL;
    void *data = dml_cache_acquire((size_t)bytes);
    dml_allocation *allocation = data ? dml_allocation_wrap(data, dml_cache_release) : NULL;
    if (!allocation) {
        dml_cache_release(data);
        PyErr_Format(PyExc_MemoryError, "the host has no %llu bytes left for an array", (unsigned long long)bytes);
    }
    return allocation;
}

static dml_allocation *allocation_on(const dml_state *state, const dml_choice *device, uint64_t bytes)
{
    if (device->host)
        return allocation_on_host(bytes);
    dml_context *context;
    dml_allocation *allocation = NULL;
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_vk_context(device->index, &context, &status);
    if (!code)
        code = dml_allocation_create(context, bytes, true, &allocation, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        dml_raise(state, &status);
    return code ? NULL : allocation;
}

/* One that is there for the taking, which is too soon done to let other threads run meanwhile; NULL if there is none. */
static dml_allocation *allocation_beside(const dml_allocation *other, uint64_t bytes)
{
    dml_context *context;
    dml_allocation *allocation = NULL;
    dml_status status;
    if (other && !dml_allocation_context(other, &context, &status))
        dml_allocation_create(context, bytes, false, &allocation, &status);
    return allocation;
}

PyObject *dml_device_array_new(const dml_state *state, const dml_choice *device, const dml_allocation *beside,
                               PyArray_Descr *dtype, const dml_tensor *shape)
{
    if (dml_shape_check(shape) < 0)
        return NULL;
    dml_tensor tensor = *shape;
    dml_tensor_pack(&tensor);
    int64_t bytes = dml_tensor_bytes(&tensor);
    dml_allocation *allocation = allocation_beside(beside, (uint64_t)bytes);
    if (!allocation)
        allocation = allocation_on(state, device, (uint64_t)bytes);
    return allocation ? array_new(state->device_array_type, allocation, dtype, device, 0, &tensor) : NULL;
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
