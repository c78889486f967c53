#include "py/arrays.h"

#include <stdlib.h>
#include <string.h>

#include "py/errors.h"
#include "py/result_memory.h"

PyArrayObject *dml_array_any(PyObject *object, PyArray_Descr *dtype, const char *name)
{
    int flags = NPY_ARRAY_ENSUREARRAY | (dtype ? NPY_ARRAY_FORCECAST : 0);
    PyObject *array = PyArray_FromAny(object, dtype, 0, 0, flags, NULL);
    if (!array)
        dml_no_array(name);
    return (PyArrayObject *)array;
}

PyArrayObject *dml_array_from(PyObject *object, const char *name)
{
    PyArrayObject *array = dml_array_any(object, NULL, name);
    if (array && dml_dtype_check(PyArray_DESCR(array), name) < 0)
        Py_CLEAR(array);
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
    if (!PyDataType_REFCHK(dtype) && dtype->type_num != NPY_VSTRING)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s has dtype %S, whose elements are not plain bytes", name, (PyObject *)dtype);
    return -1;
}

bool dml_dtype_is_integer(PyArray_Descr *dtype)
{
    if (!PyTypeNum_ISUSERDEF(dtype->type_num))
        return PyTypeNum_ISINTEGER(dtype->type_num);
    PyArray_Descr *int64 = PyArray_DescrFromType(NPY_INT64);
    bool fits = PyArray_CanCastTypeTo(dtype, int64, NPY_SAFE_CASTING);
    Py_DECREF((PyObject *)int64);
    return fits;
}

void dml_array_describe(PyObject *object, dml_tensor *tensor)
{
    if (!PyArray_Check(object)) {
        dml_device_array_describe(object, tensor);
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
    if (!PyArray_Check(array))
        return dml_device_array_operand(array);
    return (dml_operand){.data = PyArray_DATA((PyArrayObject *)array), .read_only = !PyArray_ISWRITEABLE((PyArrayObject *)array)};
}

PyArray_Descr *dml_array_dtype(PyObject *array)
{
    return PyArray_Check(array) ? PyArray_DESCR((PyArrayObject *)array) : dml_device_array_dtype(array);
}

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
        countable = countable && bytes <= INT64_MAX / extent;
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

PyObject *dml_result_new(const dml_state *state, PyArray_Descr *descr, const dml_tensor *shape)
{
    npy_intp extents[DML_MAX_RANK];
    for (int k = 0; k < shape->rank; k++)
        extents[k] = (npy_intp)shape->shape[k];
    PyObject *others;
    if (dml_memory_lend(state, dml_tensor_bytes(shape), &others) < 0)
        return NULL;
    Py_INCREF((PyObject *)descr); /* the new array takes it */
    PyObject *result;
    /* NumPy makes arrays of "S1" where "S0" is asked for, as its own copy does; they must read as empty strings. */
    if (shape->item == 0)
        result = PyArray_Zeros(shape->rank, extents, descr, 0);
    else
        result = PyArray_NewFromDescr(&PyArray_Type, descr, shape->rank, extents, NULL, NULL, 0, NULL);
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
    if (dml_tensor_is_empty(tensor))
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

static bool same_shape(const dml_tensor *found, const dml_tensor *wanted)
{
    return found->rank == wanted->rank &&
           memcmp(found->shape, wanted->shape, sizeof found->shape[0] * (size_t)found->rank) == 0;
}

int dml_wrong_shape(const char *format, const dml_tensor *first, const dml_tensor *second)
{
    PyObject *first_shape = dml_shape_tuple(first), *second_shape = dml_shape_tuple(second);
    if (first_shape && second_shape)
        PyErr_Format(PyExc_ValueError, format, first_shape, second_shape);
    Py_XDECREF(first_shape);
    Py_XDECREF(second_shape);
    return -1;
}

int dml_out_check(PyObject *out, PyArray_Descr *dtype, const dml_tensor *shape)
{
    dml_tensor tensor;
    dml_array_describe(out, &tensor);
    if (!same_shape(&tensor, shape))
        return dml_wrong_shape("out must have the result's shape %R, not %R", shape, &tensor);
    if (!PyArray_EquivTypes(dml_array_dtype(out), dtype)) {
        PyErr_Format(PyExc_ValueError, "out must have input's dtype %S, not %S", (PyObject *)dtype,
                     (PyObject *)dml_array_dtype(out));
        return -1;
    }
    if (!PyArray_Check(out))
        return 0; /* an array on a device is writable, and none of its elements share memory */
    if (!PyArray_ISWRITEABLE((PyArrayObject *)out)) {
        PyErr_SetString(PyExc_ValueError, "out must be writable; it is read-only");
        return -1;
    }
    int overlaps = overlaps_itself(&tensor);
    if (overlaps > 0)
        PyErr_SetString(PyExc_ValueError, "out must not have elements that share memory with each other");
    else if (overlaps < 0)
        PyErr_NoMemory();
    return overlaps ? -1 : 0;
}

/* The first byte an array uses, and one past the last; both the same if it is empty. They are addresses where the host sees them,
 * for it may have been lent them, else offsets in the allocation. */
static void byte_range(PyObject *array, const dml_operand *place, int64_t *begin, int64_t *end)
{
    dml_tensor tensor;
    dml_array_describe(array, &tensor);
    char *seen = place->allocation ? dml_allocation_data(place->allocation) : place->data;
    *begin = *end = (int64_t)(intptr_t)seen + (int64_t)place->offset;
    if (dml_tensor_is_empty(&tensor))
        return;
    for (int k = 0; k < tensor.rank; k++) {
        int64_t reach = (tensor.shape[k] - 1) * tensor.strides[k];
        *(reach < 0 ? begin : end) += reach;
    }
    *end += tensor.item;
}

bool dml_arrays_may_overlap(PyObject *a, PyObject *b)
{
    dml_operand a_operand = dml_array_operand(a), b_operand = dml_array_operand(b);
    bool seen =
        !a_operand.allocation || !b_operand.allocation || (dml_allocation_data(a_operand.allocation) && dml_allocation_data(b_operand.allocation));
    if (a_operand.allocation != b_operand.allocation && !seen)
        return false;
    int64_t a_begin, a_end, b_begin, b_end;
    byte_range(a, &a_operand, &a_begin, &a_end);
    byte_range(b, &b_operand, &b_begin, &b_end);
    return a_begin < b_end && b_begin < a_end;
}
