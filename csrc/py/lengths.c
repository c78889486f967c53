#include "py/lengths.h"

#include <stdio.h>

#include "py/arguments.h"
#include "py/errors.h"

static const char argument[] = "sequence_lengths";

/* An entry of any magnitude; what is beyond int64 becomes the nearest int64, which clamps, or fails, just the same. */
static int length_from(PyObject *object, int64_t *value)
{
    if (!dml_is_int(object))
        return dml_type_error(argument, "of ints", object);
    PyObject *number = PyNumber_Index(object);
    if (!number)
        return -1;
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow)
        *value = overflow > 0 ? INT64_MAX : INT64_MIN;
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Steals `objects`, an array of Python objects, and gives their values as int64. */
static PyArrayObject *lengths_from_objects(PyArrayObject *objects)
{
    PyArrayObject *dense =
        (PyArrayObject *)PyArray_NewCopy(objects, NPY_CORDER); /* an __index__ may change the first */
    Py_DECREF((PyObject *)objects);
    if (!dense)
        return NULL;
    PyArrayObject *lengths = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(dense), PyArray_DIMS(dense), NPY_INT64);
    npy_intp count = PyArray_SIZE(dense);
    PyObject **from = PyArray_DATA(dense);
    for (npy_intp k = 0; lengths && k < count; k++)
        if (length_from(from[k] ? from[k] : Py_None, (int64_t *)PyArray_DATA(lengths) + k) < 0)
            Py_CLEAR(lengths);
    Py_DECREF((PyObject *)dense);
    return lengths;
}

/* NumPy makes floats of [2**63, 1] and ints of [True, 2], so a list is looked at entry by entry. */
static PyArrayObject *lengths_from_list(PyObject *list)
{
    PyObject *array = PyArray_FromAny(list, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    if (!array) {
        if (PyErr_ExceptionMatches(PyExc_ValueError))
            PyErr_Format(PyExc_ValueError, "%s is a list whose rows differ in length", argument);
        return NULL;
    }
    Py_DECREF(array);
    PyArray_Descr *object = PyArray_DescrFromType(NPY_OBJECT);
    array = PyArray_FromAny(list, object, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    return array ? lengths_from_objects((PyArrayObject *)array) : NULL;
}

/* Steals `array`, of some number type that NumPy itself does not know as an integer; the int4 of ml_dtypes is one. */
static PyArrayObject *lengths_from_others(PyArrayObject *array, PyObject *object)
{
    PyArray_Descr *descr = PyArray_DESCR(array), *int64 = PyArray_DescrFromType(NPY_INT64);
    bool empty_sequence = !PyArray_Check(object) && PyArray_SIZE(array) == 0; /* NumPy calls it float64 */
    bool integers = PyTypeNum_ISUSERDEF(descr->type_num) && PyArray_CanCastTypeTo(descr, int64, NPY_SAFE_CASTING);
    PyObject *lengths = NULL;
    if (empty_sequence || integers) {
        lengths = PyArray_FromArray(array, int64, NPY_ARRAY_FORCECAST); /* takes int64 */
    } else {
        PyErr_Format(PyExc_TypeError, "%s must be of an integer dtype, not %S", argument, (PyObject *)descr);
        Py_DECREF((PyObject *)int64);
    }
    Py_DECREF((PyObject *)array);
    return (PyArrayObject *)lengths;
}

PyArrayObject *dml_lengths_from(PyObject *object)
{
    if (PyList_Check(object) || PyTuple_Check(object))
        return lengths_from_list(object);
    PyArrayObject *array = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    if (!array || PyArray_ISINTEGER(array))
        return array;
    if (PyArray_TYPE(array) == NPY_OBJECT)
        return lengths_from_objects(array);
    return lengths_from_others(array, object);
}

/* "sequence_lengths[1, 0] is -3" for the entry at `flat` in C order. */
static void negative_length(PyArrayObject *lengths, npy_intp flat, int64_t value)
{
    npy_intp index[DML_MAX_RANK];
    int rank = PyArray_NDIM(lengths);
    for (int k = rank - 1; k >= 0; k--) {
        index[k] = flat % PyArray_DIM(lengths, k);
        flat /= PyArray_DIM(lengths, k);
    }
    char where[DML_MAX_RANK * 22 + 1] = "";
    int at = 0;
    for (int k = 0; k < rank; k++)
        at += snprintf(where + at, sizeof where - (size_t)at, k ? ", %lld" : "%lld", (long long)index[k]);
    PyErr_Format(PyExc_ValueError, "%s[%s] is %lld%s; a length must be 0 or more", argument, where, (long long)value,
                 value == INT64_MIN ? " or less" : "");
}

/* -1, or the place of the first negative one. */
static npy_intp clamp_signed(const int64_t *from, int64_t *to, npy_intp count, int64_t extent)
{
    int64_t signs = 0;
    for (npy_intp k = 0; k < count; k++) {
        signs |= from[k];
        to[k] = from[k] < extent ? from[k] : extent;
    }
    npy_intp first = 0;
    while (signs < 0 && from[first] >= 0)
        first++;
    return signs < 0 ? first : -1;
}

static void clamp_unsigned(const uint64_t *from, int64_t *to, npy_intp count, int64_t extent)
{
    for (npy_intp k = 0; k < count; k++)
        to[k] = from[k] < (uint64_t)extent ? (int64_t)from[k] : extent;
}

int64_t *dml_lengths_clamp(PyArrayObject *lengths, int64_t extent)
{
    bool wide = PyArray_ISUNSIGNED(lengths) && PyArray_ITEMSIZE(lengths) == 8;
    PyArrayObject *dense = (PyArrayObject *)PyArray_FromArray(
        lengths, PyArray_DescrFromType(wide ? NPY_UINT64 : NPY_INT64), NPY_ARRAY_CARRAY_RO);
    if (!dense)
        return NULL;
    npy_intp count = PyArray_SIZE(dense), negative = -1;
    int64_t *values = PyMem_Malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
    if (!values)
        PyErr_NoMemory();
    else if (wide)
        clamp_unsigned(PyArray_DATA(dense), values, count, extent);
    else
        negative = clamp_signed(PyArray_DATA(dense), values, count, extent);
    if (negative >= 0) {
        negative_length(lengths, negative, ((const int64_t *)PyArray_DATA(dense))[negative]);
        PyMem_Free(values);
        values = NULL;
    }
    Py_DECREF((PyObject *)dense);
    return values;
}
