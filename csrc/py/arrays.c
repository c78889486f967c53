#include "py/arrays.h"

#include <stdlib.h>

#include "py/errors.h"
#include "py/memory.h"

PyArrayObject *dml_array_from(PyObject *object, const char *name)
{
    PyArrayObject *array = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    if (!array)
        return NULL;
    PyArray_Descr *descr = PyArray_DESCR(array);
    if (PyDataType_REFCHK(descr) || descr->type_num == NPY_VSTRING) {
        PyErr_Format(PyExc_TypeError, "%s has dtype %S, whose elements are not plain bytes", name, (PyObject *)descr);
        Py_CLEAR(array);
    }
    return array;
}

void dml_array_describe(PyArrayObject *array, dml_tensor *tensor)
{
    tensor->rank = PyArray_NDIM(array);
    tensor->item = (int64_t)PyArray_ITEMSIZE(array);
    for (int k = 0; k < tensor->rank; k++) {
        tensor->shape[k] = PyArray_DIM(array, k);
        tensor->strides[k] = PyArray_STRIDE(array, k);
    }
}

static PyObject *shape_tuple(const dml_tensor *tensor)
{
    PyObject *tuple = PyTuple_New(tensor->rank);
    for (int k = 0; tuple && k < tensor->rank; k++) {
        PyObject *extent = PyLong_FromLongLong(tensor->shape[k]);
        if (!extent || PyTuple_SetItem(tuple, k, extent) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* INT64_MAX for more than that, which NumPy will refuse. */
static int64_t bytes_of(const dml_tensor *shape)
{
    int64_t bytes = shape->item;
    bool countable = true;
    for (int k = 0; k < shape->rank; k++) {
        if (shape->shape[k] == 0)
            return 0;
        countable = countable && bytes <= INT64_MAX / shape->shape[k];
        bytes *= countable ? shape->shape[k] : 1;
    }
    return countable ? bytes : INT64_MAX;
}

PyArrayObject *dml_result_new(const dml_state *state, PyArrayObject *like, const dml_tensor *shape)
{
    npy_intp extents[DML_MAX_RANK];
    for (int k = 0; k < shape->rank; k++)
        extents[k] = (npy_intp)shape->shape[k];
    PyArray_Descr *descr = PyArray_DESCR(like);
    PyObject *others;
    if (dml_memory_lend(state, bytes_of(shape), &others) < 0)
        return NULL;
    Py_INCREF((PyObject *)descr); /* the new array takes it */
    PyArrayObject *result;
    /* NumPy makes arrays of "S1" where "S0" is asked for, as its own copy does; they must read as empty strings. */
    if (shape->item == 0)
        result = (PyArrayObject *)PyArray_Zeros(shape->rank, extents, descr, 0);
    else
        result = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, shape->rank, extents, NULL, NULL, 0, NULL);
    if (dml_memory_return(others) < 0)
        Py_CLEAR(result);
    return result;
}

/* --- out= ----------------------------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Axes of more than one element with their strides made positive, the smallest first. Returns how many. */
static int sorted_axes(const dml_tensor *tensor, int64_t *extents, int64_t *strides)
{
    int count = 0;
    for (int k = 0; k < tensor->rank; k++) {
        if (tensor->shape[k] < 2)
            continue;
        int64_t stride = tensor->strides[k] < 0 ? -tensor->strides[k] : tensor->strides[k];
        int at = count++;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            extents[at] = extents[at - 1];
        }
        strides[at] = stride;
        extents[at] = tensor->shape[k];
    }
    return count;
}

/* Marks every element's bytes, in units of what all strides and the item have in common, and looks for a second mark. 1
 * if there is one, 0 if not, -1 without memory. `span` is in bytes. */
static int marks_collide(int64_t item, int axes, const int64_t *extents, const int64_t *strides, int64_t span)
{
    int64_t unit = item;
    for (int k = 0; k < axes; k++)
        unit = gcd(unit, strides[k]);
    unsigned char *marks = calloc((size_t)(span / unit / 8 + 1), 1);
    if (!marks)
        return -1;
    int64_t index[DML_MAX_RANK] = {0}, at = 0;
    bool collide = false, more = true;
    while (more && !collide) {
        for (int64_t u = at / unit; u < (at + item) / unit && !collide; u++) {
            collide = marks[u / 8] >> (u % 8) & 1;
            marks[u / 8] = (unsigned char)(marks[u / 8] | 1 << (u % 8));
        }
        more = false;
        for (int k = 0; k < axes && !more; k++) {
            more = ++index[k] < extents[k];
            at += more ? strides[k] : -(extents[k] - 1) * strides[k];
            if (!more)
                index[k] = 0;
        }
    }
    free(marks);
    return collide;
}

/* Whether two elements of one array share a byte: 1, 0, or -1 without memory. */
static int overlaps_itself(const dml_tensor *tensor)
{
    for (int k = 0; k < tensor->rank; k++)
        if (tensor->shape[k] == 0)
            return 0;
    if (tensor->item == 0)
        return 0;
    int64_t extents[DML_MAX_RANK], strides[DML_MAX_RANK];
    int axes = sorted_axes(tensor, extents, strides);
    int64_t span = tensor->item, bytes = tensor->item;
    bool nested = true; /* each stride steps over all that the smaller ones reach: nearly every array there is */
    for (int k = 0; k < axes; k++) {
        nested = nested && strides[k] >= span;
        span += (extents[k] - 1) * strides[k];
        bytes *= extents[k];
        if (bytes > span)
            return 1;
    }
    return nested ? 0 : marks_collide(tensor->item, axes, extents, strides, span);
}

static bool same_shape(PyArrayObject *array, const dml_tensor *shape)
{
    if (PyArray_NDIM(array) != shape->rank)
        return false;
    for (int k = 0; k < shape->rank; k++)
        if (PyArray_DIM(array, k) != shape->shape[k])
            return false;
    return true;
}

static int wrong_shape(PyArrayObject *out, const dml_tensor *wanted)
{
    dml_tensor found;
    dml_array_describe(out, &found);
    PyObject *found_shape = shape_tuple(&found), *wanted_shape = shape_tuple(wanted);
    if (found_shape && wanted_shape)
        PyErr_Format(PyExc_ValueError, "out must have the result's shape %R, not %R", wanted_shape, found_shape);
    Py_XDECREF(found_shape);
    Py_XDECREF(wanted_shape);
    return -1;
}

int dml_out_check(PyObject *object, PyArrayObject *like, const dml_tensor *shape)
{
    if (!PyArray_Check(object))
        return dml_type_error("out", "a numpy.ndarray or None", object);
    PyArrayObject *out = (PyArrayObject *)object;
    if (!same_shape(out, shape))
        return wrong_shape(out, shape);
    if (!PyArray_EquivTypes(PyArray_DESCR(out), PyArray_DESCR(like))) {
        PyErr_Format(PyExc_ValueError, "out must have input's dtype %S, not %S", (PyObject *)PyArray_DESCR(like),
                     (PyObject *)PyArray_DESCR(out));
        return -1;
    }
    if (!PyArray_ISWRITEABLE(out)) {
        PyErr_SetString(PyExc_ValueError, "out must be writable; it is read-only");
        return -1;
    }
    dml_tensor tensor;
    dml_array_describe(out, &tensor);
    int overlaps = overlaps_itself(&tensor);
    if (overlaps > 0)
        PyErr_SetString(PyExc_ValueError, "out must not have elements that share memory with each other");
    else if (overlaps < 0)
        PyErr_NoMemory();
    return overlaps ? -1 : 0;
}

/* Addresses from the first byte an array uses to one past the last; both the same if it is empty. */
static void address_range(PyArrayObject *array, uintptr_t *begin, uintptr_t *end)
{
    *begin = *end = (uintptr_t)PyArray_DATA(array);
    if (PyArray_SIZE(array) == 0)
        return;
    for (int k = 0; k < PyArray_NDIM(array); k++) {
        npy_intp reach = (PyArray_DIM(array, k) - 1) * PyArray_STRIDE(array, k);
        *(reach < 0 ? begin : end) += (uintptr_t)reach;
    }
    *end += (uintptr_t)PyArray_ITEMSIZE(array);
}

bool dml_arrays_meet(PyArrayObject *a, PyArrayObject *b)
{
    uintptr_t a_begin, a_end, b_begin, b_end;
    address_range(a, &a_begin, &a_end);
    address_range(b, &b_begin, &b_end);
    return a_begin < b_end && b_begin < a_end;
}
