#include "py/arguments.h"

#include "py/errors.h"

bool dml_is_int(PyObject *object)
{
    if (PyLong_Check(object))
        return !PyBool_Check(object);
    if (PyArray_Check(object)) /* every array has __index__; it works for 0-d arrays of ints */
        return PyArray_NDIM((PyArrayObject *)object) == 0 && PyArray_ISINTEGER((PyArrayObject *)object);
    return !PyArray_IsScalar(object, Bool) && PyIndex_Check(object);
}

/* The int that an object is; NULL without an exception where it is none. Every library's arrays have __index__, which raises
 * TypeError but for those of a single int. */
static PyObject *int_of(PyObject *object)
{
    PyObject *number = dml_is_int(object) ? PyNumber_Index(object) : NULL;
    if (!number && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError) && PyMapping_Check(object))
        PyErr_Clear();
    return number;
}

/* Steals `number`, which may be NULL: of an object that is no int, or with an exception set. */
static int int64_from(PyObject *number, PyObject *object, const char *name, const char *wanted, int64_t *value)
{
    if (!number)
        return PyErr_Occurred() ? -1 : dml_type_error(name, wanted, object);
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow) {
        PyErr_Format(PyExc_OverflowError, "%s does not fit into 64 bits", name);
        return -1;
    }
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

int dml_int_among(PyObject *object, const char *name, const char *wanted, int64_t *value)
{
    return int64_from(int_of(object), object, name, wanted, value);
}

int dml_int_from(PyObject *object, const char *name, int64_t *value)
{
    return dml_int_among(object, name, "an int", value);
}

/* Always a new tuple of a list: the __index__ of an entry may change the list. */
PyObject *dml_tuple_from(PyObject *object, const char *name, const char *wanted)
{
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object))
        return PySequence_Tuple(object);
    if (PyArray_Check(object) && PyArray_NDIM((PyArrayObject *)object) > 1) {
        PyErr_Format(PyExc_ValueError, "%s must be one-dimensional, not of rank %d", name,
                     PyArray_NDIM((PyArrayObject *)object));
        return NULL;
    }
    bool refused = PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) || PyDict_Check(object) ||
                   PyAnySet_Check(object);
    PyObject *iterator = refused ? NULL : PyObject_GetIter(object);
    if (!iterator) {
        if (refused || PyErr_ExceptionMatches(PyExc_TypeError))
            dml_type_error(name, wanted, object);
        return NULL;
    }
    PyObject *tuple = PySequence_Tuple(iterator);
    Py_DECREF(iterator);
    return tuple;
}

static int entry_from(PyObject *entry, const char *name, Py_ssize_t index, int64_t *value)
{
    if (PyLong_CheckExact(entry)) {
        int overflow;
        *value = PyLong_AsLongLongAndOverflow(entry, &overflow);
        if (!overflow)
            return 0;
    }
    char entry_name[64];
    PyOS_snprintf(entry_name, sizeof entry_name, "%s[%zd]", name, index);
    return dml_int_from(entry, entry_name, value);
}

static int ints_from(PyObject *object, const char *name, const char *wanted, dml_ints *ints)
{
    PyObject *tuple = dml_tuple_from(object, name, wanted);
    if (!tuple)
        return -1;
    Py_ssize_t count = PyTuple_Size(tuple);
    int failed = 0;
    for (Py_ssize_t k = 0; k < count && !failed; k++) {
        int64_t value = 0;
        failed = entry_from(PyTuple_GetItem(tuple, k), name, k, &value);
        if (!failed && k < DML_MAX_RANK)
            ints->value[k] = value;
    }
    Py_DECREF(tuple);
    ints->count = count;
    ints->single = false;
    return failed;
}

int dml_ints_from(PyObject *object, const char *name, dml_ints *ints)
{
    return ints_from(object, name, "an array or list of ints", ints);
}

int dml_int_or_ints_from(PyObject *object, const char *name, dml_ints *ints)
{
    PyObject *number = int_of(object);
    if (!number && !PyErr_Occurred())
        return ints_from(object, name, "an int, or an array or list of ints", ints);
    ints->count = 1;
    ints->single = true;
    return int64_from(number, object, name, "an int", &ints->value[0]);
}

int dml_shape_from(PyObject *object, dml_ints *shape)
{
    if (dml_int_or_ints_from(object, "shape", shape) < 0)
        return -1;
    if (shape->count <= DML_MAX_RANK)
        return 0;
    PyErr_Format(PyExc_ValueError, "shape must have at most %d entries, not %lld", DML_MAX_RANK, (long long)shape->count);
    return -1;
}

int dml_int_list_from(PyObject *object, const char *name, int64_t **values, int64_t *count)
{
    PyObject *tuple = dml_tuple_from(object, name, "an array or list of ints");
    if (!tuple)
        return -1;
    *count = PyTuple_Size(tuple);
    *values = PyMem_Malloc((size_t)(*count > 0 ? *count : 1) * sizeof **values);
    int failed = *values ? 0 : -1;
    if (failed)
        PyErr_NoMemory();
    for (Py_ssize_t k = 0; k < *count && !failed; k++)
        failed = entry_from(PyTuple_GetItem(tuple, k), name, k, &(*values)[k]);
    Py_DECREF(tuple);
    return failed;
}

int dml_enum_from(PyObject *object, const char *name, const char *const *enumerators, int64_t *index)
{
    if (!PyUnicode_Check(object))
        return dml_type_error(name, "a str", object);
    char all[128] = "";
    size_t at = 0;
    for (int k = 0; enumerators[k]; k++) {
        *index = k;
        if (PyUnicode_CompareWithASCIIString(object, enumerators[k]) == 0)
            return 0;
        const char *between = k == 0 ? "" : ", ";
        if (k > 0 && !enumerators[k + 1])
            between = " or ";
        at += (size_t)PyOS_snprintf(all + at, sizeof all - at, "%s\"%s\"", between, enumerators[k]);
    }
    PyErr_Format(PyExc_ValueError, "%s must be %s, not %R", name, all, object);
    return -1;
}
