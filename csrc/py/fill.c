#include "py/fill.h"

#include <float.h>
#include <string.h>

#include "py/arrays.h"

static int make_room(dml_call *call, size_t item)
{
    call->fill = PyMem_Calloc(item > 0 ? item : 1, 1);
    if (call->fill)
        return 0;
    PyErr_NoMemory();
    return -1;
}

int dml_fill_zero(dml_call *call)
{
    return make_room(call, (size_t)call->program.inputs[0].item);
}

/* Numbers as NumPy orders them: what comes later holds what comes before. Bools are integers here, as True and False are. */
enum { INTEGER = 1, REAL, COMPLEX, NO_NUMBER };

static int number_of_dtype(PyArray_Descr *dtype)
{
    if (PyTypeNum_ISUSERDEF(dtype->type_num)) /* those of ml_dtypes are small ints, or floats */
        return dml_dtype_is_integer(dtype) ? INTEGER : REAL;
    if (PyTypeNum_ISBOOL(dtype->type_num) || PyTypeNum_ISINTEGER(dtype->type_num))
        return INTEGER;
    if (PyTypeNum_ISFLOAT(dtype->type_num))
        return REAL;
    return PyTypeNum_ISCOMPLEX(dtype->type_num) ? COMPLEX : NO_NUMBER;
}

/* What kind of number a scalar is; NO_NUMBER also where NumPy makes no array of it. For lack of memory an exception is set. */
static int number_of(PyObject *value)
{
    if (PyLong_Check(value)) /* of any magnitude */
        return INTEGER;
    PyObject *array = PyArray_FromAny(value, NULL, 0, 0, 0, NULL);
    int number = array ? number_of_dtype(PyArray_DESCR((PyArrayObject *)array)) : NO_NUMBER;
    Py_XDECREF(array);
    if (!array && !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return number;
}

static bool is_text(PyObject *value)
{
    return PyUnicode_Check(value) || PyBytes_Check(value);
}

/* Whether a dtype is for such scalars; false with an exception set where there was no memory to tell. */
static bool goes_into(PyObject *value, PyArray_Descr *dtype)
{
    int number = number_of(value), most = number_of_dtype(dtype);
    if (PyErr_Occurred())
        return false;
    if (most != NO_NUMBER)
        return number <= most;
    return !PyTypeNum_ISDATETIME(dtype->type_num) || number == INTEGER || number == NO_NUMBER;
}

/* Whether what was stored is the value, of those where NumPy stores what is left of it. 1, 0, or -1 with an exception set. */
static int is_exact(PyObject *array, PyObject *value)
{
    PyArray_Descr *dtype = PyArray_DESCR((PyArrayObject *)array);
    if (PyTypeNum_ISSTRING(dtype->type_num) && is_text(value)) {
        Py_ssize_t width = (Py_ssize_t)PyArray_ITEMSIZE((PyArrayObject *)array) / (dtype->type_num == NPY_UNICODE ? 4 : 1);
        return PyObject_Length(value) <= width;
    }
    if (number_of_dtype(dtype) != INTEGER)
        return 1;
    PyObject *stored = PyObject_CallMethod(array, "item", NULL);
    int same = stored ? PyObject_RichCompareBool(stored, value, Py_EQ) : -1;
    Py_XDECREF(stored);
    return same;
}

/* Replaces what NumPy has raised by an error that names the argument, if it is that the value is wrong. */
static void raise_wrong(PyObject *value, PyArray_Descr *dtype, bool overflow)
{
    bool raised = PyErr_Occurred() != NULL;
    overflow = overflow || (raised && PyErr_ExceptionMatches(PyExc_OverflowError));
    if (raised && !overflow && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        return;
    PyErr_Clear();
    if (overflow)
        PyErr_Format(PyExc_OverflowError, "value %R does not fit into input's dtype %S", value, (PyObject *)dtype);
    else
        PyErr_Format(PyExc_TypeError, "value must be a scalar that input's dtype %S holds, not %R", (PyObject *)dtype, value);
}

/* The bytes of x87's long doubles that mean nothing, into which NumPy writes whatever a register holds, become 0. */
static void clear_holes(char *item, PyArray_Descr *dtype)
{
    enum { MEANT = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double), HOLE = sizeof(long double) - MEANT };
    int parts = (dtype->type_num == NPY_LONGDOUBLE) + 2 * (dtype->type_num == NPY_CLONGDOUBLE);
    for (int i = 0; i < parts; i++)
        memset(item + (size_t)i * sizeof(long double) + (dtype->byteorder == NPY_OPPBYTE ? 0 : MEANT), 0, HOLE);
}

int dml_fill_from(dml_call *call, PyObject *value)
{
    PyArray_Descr *dtype = dml_array_dtype(call->inputs[0]);
    Py_INCREF((PyObject *)dtype);
    call->fill_dtype = (PyObject *)dtype;
    if (make_room(call, (size_t)PyDataType_ELSIZE(dtype)) < 0)
        return -1;
    Py_INCREF((PyObject *)dtype);
    PyObject *array = PyArray_Zeros(0, NULL, dtype, 0), *done = NULL;
    if (!array)
        return -1;
    int exact = -1;
    if (PyArray_CheckAnyScalar(value) && goes_into(value, dtype))
        done = PyObject_CallFunction(call->state->copyto, "OOs", array, value, "unsafe"); /* as numpy.full does */
    if (done)
        exact = is_exact(array, value);
    if (exact == 1) {
        memcpy(call->fill, PyArray_DATA((PyArrayObject *)array), (size_t)PyDataType_ELSIZE(dtype));
        clear_holes(call->fill, dtype);
    } else {
        raise_wrong(value, dtype, exact == 0);
    }
    Py_XDECREF(done);
    Py_DECREF(array);
    return exact == 1 ? 0 : -1;
}
