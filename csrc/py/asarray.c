#include "py/asarray.h"

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/device_choice.h"
#include "py/transfer.h"

static PyObject *asarray_on_device(dml_state *state, dml_device_array *array, PyArray_Descr *dtype, const dml_choice *device,
                                   PyObject *copy)
{
    if (dtype && !PyArray_EquivTypes(dtype, array->dtype))
        return PyErr_Format(PyExc_TypeError,
                            "dtype must be that of the device array, %S, not %S: its elements are not converted",
                            (PyObject *)array->dtype, (PyObject *)dtype);
    bool same = !device || dml_same_device(device, &array->device);
    if (!same && copy == Py_False)
        return PyErr_Format(PyExc_ValueError, "copy must not be False for an array on another device");
    if (!same || copy == Py_True)
        return dml_device_array_copy(state, array, same ? &array->device : device);
    Py_INCREF((PyObject *)array);
    return (PyObject *)array;
}

static PyObject *asarray_on_host(dml_state *state, PyObject *object, PyArray_Descr *dtype, const dml_choice *device)
{
    Py_XINCREF((PyObject *)dtype); /* stolen */
    PyObject *array = (PyObject *)dml_array_from(object, dtype, "obj"), *result = NULL;
    dml_choice found;
    if (array && dml_make_private(&array) == 0 && dml_dtype_check(dml_array_dtype(array), "obj") == 0 &&
        (device || dml_device_from(state, Py_None, &found) == 0)) {
        dml_endpoint from;
        dml_endpoint_init(&from, array);
        result = dml_upload(state, device ? device : &found, dml_array_dtype(array), &from);
    }
    Py_XDECREF(array);
    return result;
}

PyObject *dml_asarray(PyObject *module, PyObject *args)
{
    dml_state *state = dml_state_of(module);
    PyObject *object, *dtype_object, *device_object, *copy;
    if (!PyArg_ParseTuple(args, "OOOO:asarray", &object, &dtype_object, &device_object, &copy))
        return NULL;
    PyArray_Descr *dtype = NULL;
    dml_choice choice, *device = device_object == Py_None ? NULL : &choice;
    if (!PyArray_DescrConverter2(dtype_object, &dtype))
        return NULL;
    PyObject *result = NULL;
    bool on_device = dml_is_device_array(state, object);
    if ((dtype && dml_dtype_check(dtype, "dtype") < 0) || (device && dml_device_from(state, device_object, device) < 0))
        result = NULL;
    else if (on_device)
        result = asarray_on_device(state, (dml_device_array *)object, dtype, device, copy);
    else if (copy == Py_False)
        PyErr_SetString(PyExc_ValueError, "copy must not be False for data on the host, which is always copied");
    else
        result = asarray_on_host(state, object, dtype, device);
    Py_XDECREF((PyObject *)dtype);
    return result;
}

static int shape_from(PyObject *object, dml_tensor *tensor)
{
    dml_ints shape;
    if (dml_shape_from(object, &shape) < 0)
        return -1;
    tensor->rank = (int)shape.count;
    for (int k = 0; k < tensor->rank; k++) {
        tensor->shape[k] = shape.value[k];
        if (shape.value[k] < 0) {
            PyErr_Format(PyExc_ValueError, "shape[%d] must be 0 or more; got %lld", k, (long long)shape.value[k]);
            return -1;
        }
    }
    return 0;
}

PyObject *dml_empty(PyObject *module, PyObject *args)
{
    const dml_state *state = dml_state_of(module);
    PyObject *shape, *dtype_object, *device_object;
    dml_tensor tensor;
    dml_choice device;
    PyArray_Descr *dtype = NULL;
    if (!PyArg_ParseTuple(args, "OOO:empty", &shape, &dtype_object, &device_object) || shape_from(shape, &tensor) < 0 ||
        !PyArray_DescrConverter(dtype_object, &dtype))
        return NULL;
    PyObject *result = NULL;
    tensor.item = (int64_t)PyDataType_ELSIZE(dtype);
    if (PyDataType_HASSUBARRAY(dtype))
        PyErr_SetString(PyExc_TypeError, "dtype must not be a subarray; add its shape to shape");
    else if (dml_dtype_check(dtype, "dtype") == 0 && dml_device_from(state, device_object, &device) == 0)
        result = dml_device_array_new(state, &device, NULL, dtype, &tensor);
    Py_DECREF((PyObject *)dtype);
    return result;
}
