#include "py/shapes.h"

bool dml_tensor_is_empty(const dml_tensor *shape)
{
    bool empty = shape->item == 0;
    for (int k = 0; k < shape->rank; k++)
        empty = empty || shape->shape[k] == 0;
    return empty;
}

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
