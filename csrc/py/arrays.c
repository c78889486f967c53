#include "py/arrays.h"

#include "py/errors.h"
#include "py/result_memory.h"

PyArrayObject *dml_array_any(PyObject *object, PyArray_Descr *dtype, const char *name)
{
    int flags = NPY_ARRAY_ENSUREARRAY | (dtype ? NPY_ARRAY_FORCECAST : 0);
    PyObject *array = PyArray_FromAny(object, dtype, 0, 0, flags, NULL);
    if (!array)
        dml_no_array(name, object);
    return (PyArrayObject *)array;
}

static bool is_plain(PyArray_Descr *dtype)
{
    return !PyDataType_REFCHK(dtype) && dtype->type_num != NPY_VSTRING;
}

PyArrayObject *dml_array_from(PyObject *object, PyArray_Descr *dtype, const char *name)
{
    PyArrayObject *array = dml_array_any(object, dtype, name);
    if (array && !is_plain(PyArray_DESCR(array))) {
        dml_not_plain(name, (PyObject *)array);
        Py_CLEAR(array);
    }
    return array;
}

int dml_make_private(PyObject **array)
{
    if (!PyArray_Check(*array))
        return 0;
    PyObject *view = PyArray_View((PyArrayObject *)*array, NULL, &PyArray_Type);
    if (!view)
        return -1;
    Py_DECREF(*array);
    *array = view;
    return 0;
}

int dml_dtype_check(PyArray_Descr *dtype, const char *name)
{
    if (is_plain(dtype))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must have elements that are plain bytes; those of dtype %S are not", name,
                 (PyObject *)dtype);
    return -1;
}

/* The ints of a tuple; -1 with an exception set. */
static int read_ints(PyObject *tuple, npy_intp *values)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count > DML_MAX_RANK)
        PyErr_SetString(PyExc_ValueError, "an array has too many axes");
    for (Py_ssize_t k = 0; k < count && !PyErr_Occurred(); k++)
        values[k] = (npy_intp)PyLong_AsSsize_t(PyTuple_GetItem(tuple, k));
    return PyErr_Occurred() ? -1 : (int)count;
}

PyObject *dml_array_described(PyObject *description, const char *name)
{
    PyArray_Descr *dtype;
    PyObject *shape, *strides;
    Py_ssize_t offset = 0;
    npy_intp extents[DML_MAX_RANK], steps[DML_MAX_RANK];
    if (!PyArg_ParseTuple(description, "O!O!O!|n", &PyArrayDescr_Type, &dtype, &PyTuple_Type, &shape, &PyTuple_Type, &strides,
                          &offset) ||
        dml_dtype_check(dtype, name) < 0)
        return NULL;
    int rank = read_ints(shape, extents);
    if (rank < 0 || read_ints(strides, steps) != rank) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "an array must have a stride for each axis");
        return NULL;
    }
    char *nowhere = (char *)(4096 + ((intptr_t)offset & 4095)); /* memory begins at a page */
    Py_INCREF((PyObject *)dtype);                               /* the new array steals it */
    return PyArray_NewFromDescr(&PyArray_Type, dtype, rank, extents, steps, nowhere, 0, NULL);
}

void dml_array_describe(PyObject *object, dml_tensor *tensor)
{
    if (!PyArray_Check(object)) {
        dml_tensor_copy(tensor, &((dml_device_array *)object)->tensor);
        return;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    tensor->rank = PyArray_NDIM(array);
    tensor->item = (int64_t)PyArray_ITEMSIZE(array);
    for (int k = 0; k < tensor->rank; k++) {
        tensor->shape[k] = PyArray_DIM(array, k);
        tensor->strides[k] = PyArray_STRIDE(array, k);
    }
}

dml_operand dml_array_operand(PyObject *array)
{
    const dml_device_array *own = (dml_device_array *)array;
    if (!PyArray_Check(array))
        return dml_backend_of(&own->device)->map(own->allocation, own->offset);
    return (dml_operand){.data = PyArray_DATA((PyArrayObject *)array),
                         .read_only = !PyArray_ISWRITEABLE((PyArrayObject *)array)};
}

PyArray_Descr *dml_array_dtype(PyObject *array)
{
    return PyArray_Check(array) ? PyArray_DESCR((PyArrayObject *)array) : ((dml_device_array *)array)->dtype;
}

/* An array whose elements have no bytes. Steals the reference to `descr`. */
static PyObject *zero_sized(PyArray_Descr *descr, const npy_intp *extents, int rank)
{
    PyObject *shape = PyArray_IntTupleFromIntp(rank, extents);
    PyObject *made = shape ? PyObject_CallFunctionObjArgs((PyObject *)&PyArray_Type, shape, (PyObject *)descr, NULL) : NULL;
    Py_XDECREF(shape);
    Py_DECREF((PyObject *)descr);
    return made;
}

PyObject *dml_result_new(const dml_state *state, PyArray_Descr *descr, const dml_tensor *shape)
{
    npy_intp extents[DML_MAX_RANK];
    for (int k = 0; k < shape->rank; k++)
        extents[k] = (npy_intp)shape->shape[k];
    PyObject *others;
    if (dml_memory_lend(state, dml_tensor_bytes(shape), &others) < 0)
        return NULL;
    Py_INCREF((PyObject *)descr); /* the new array steals it */
    PyObject *result;
    /* Where "S0" is asked for, NumPy's C functions make arrays of "S1", and only the type itself does not. */
    if (shape->item == 0)
        result = zero_sized(descr, extents, shape->rank);
    else
        result = PyArray_NewFromDescr(&PyArray_Type, descr, shape->rank, extents, NULL, NULL, 0, NULL);
    if (dml_memory_return(others) < 0)
        Py_CLEAR(result); /* uncovered: NumPy accepts its own handler */
    return result;
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

int64_t dml_tensor_bytes(const dml_tensor *shape)
{
    int64_t bytes = shape->item;
    bool countable = true;
    for (int k = 0; k < shape->rank; k++) {
        int64_t extent = shape->shape[k] > 0 ? shape->shape[k] : 1;
        countable = countable && ((bytes | extent) <= INT32_MAX || bytes <= INT64_MAX / extent);
        bytes *= countable ? extent : 1;
    }
    if (!countable)
        return INT64_MAX;
    return dml_tensor_is_empty(shape) ? 0 : bytes;
}

int dml_shape_check(const dml_tensor *shape)
{
    if (dml_tensor_bytes(shape) < INT64_MAX)
        return 0;
    PyErr_SetString(PyExc_ValueError, "shape is too large: the array would have more than 2**63 bytes");
    return -1;
}

PyObject *dml_ints_tuple(const int64_t *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple && k < count; k++) {
        PyObject *value = PyLong_FromLongLong(values[k]);
        if (!value || PyTuple_SetItem(tuple, k, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *dml_shape_tuple(const dml_tensor *tensor)
{
    return dml_ints_tuple(tensor->shape, tensor->rank);
}

int dml_wrong_shape(const char *format, const char *name, const dml_tensor *first, const dml_tensor *second)
{
    PyObject *first_shape = dml_shape_tuple(first), *second_shape = dml_shape_tuple(second);
    if (first_shape && second_shape)
        PyErr_Format(PyExc_ValueError, format, name, first_shape, second_shape);
    Py_XDECREF(first_shape);
    Py_XDECREF(second_shape);
    return -1;
}
