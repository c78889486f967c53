#include "py/dlpack_types.h"

#include <stdbool.h>
#include <string.h>

enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_COMPLEX, DL_BOOL };

/* NumPy's own types, by the kind of the dtype. */
static const struct {
    char kind;
    uint8_t code;
    uint8_t least, most; /* bits; of these, powers of two */
} numpy_types[] = {
    {'i', DL_INT, 8, 64}, {'u', DL_UINT, 8, 64}, {'f', DL_FLOAT, 16, 64}, {'c', DL_COMPLEX, 64, 128}, {'b', DL_BOOL, 8, 8},
};
enum { NUMPY_TYPES = sizeof numpy_types / sizeof numpy_types[0] };

/* The types of the package ml_dtypes, by the name of the dtype. */
static const struct {
    const char *name;
    uint8_t code;
    uint8_t bits;
} ml_dtypes_types[] = {
    {"bfloat16", DL_BFLOAT, 16},  {"float8_e3m4", 7, 8},      {"float8_e4m3", 8, 8},
    {"float8_e4m3b11fnuz", 9, 8}, {"float8_e4m3fn", 10, 8},   {"float8_e4m3fnuz", 11, 8},
    {"float8_e5m2", 12, 8},       {"float8_e5m2fnuz", 13, 8}, {"float8_e8m0fnu", 14, 8},
};
enum { ML_DTYPES_TYPES = sizeof ml_dtypes_types / sizeof ml_dtypes_types[0] };

/* 1 and the type's code, 0 if there is none, -1 with an exception set. */
static int find_code(PyArray_Descr *dtype, uint8_t *code)
{
    int bits = 8 * (int)PyDataType_ELSIZE(dtype), found = 0;
    if (!PyTypeNum_ISUSERDEF(dtype->type_num)) {
        for (int i = 0; i < NUMPY_TYPES && !found; i++) {
            *code = numpy_types[i].code;
            found = dtype->kind == numpy_types[i].kind && bits <= numpy_types[i].most;
        }
        return found;
    }
    PyObject *name = PyObject_GetAttrString((PyObject *)dtype, "name");
    for (int i = 0; name && i < ML_DTYPES_TYPES && !found; i++) {
        *code = ml_dtypes_types[i].code;
        found = PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, ml_dtypes_types[i].name) == 0;
    }
    Py_XDECREF(name);
    return name ? found : -1;
}

int dml_dlpack_type(PyArray_Descr *dtype, dl_type *type)
{
    *type = (dl_type){.bits = (uint8_t)(8 * PyDataType_ELSIZE(dtype)), .lanes = 1};
    int found = find_code(dtype, &type->code);
    if (found < 0 || (found && PyArray_ISNBO(dtype->byteorder)))
        return found < 0 ? -1 : 0;
    PyErr_Format(PyExc_BufferError, "DLPack has no elements of dtype %S", (PyObject *)dtype);
    return -1;
}

static PyArray_Descr *dtype_of_ml_dtypes(const char *name)
{
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    if (!module) {
        if (PyErr_ExceptionMatches(PyExc_ImportError))
            PyErr_Format(PyExc_BufferError, "elements of type %s need the package ml_dtypes", name);
        return NULL;
    }
    PyObject *type = PyObject_GetAttrString(module, name);
    PyArray_Descr *dtype = NULL;
    if (!type || !PyArray_DescrConverter(type, &dtype)) {
        PyErr_Format(PyExc_BufferError, "this ml_dtypes has no %s", name);
        dtype = NULL;
    }
    Py_XDECREF(type);
    Py_DECREF(module);
    return dtype;
}

static PyArray_Descr *dtype_of_numpy(char kind, int bytes)
{
    PyArray_Descr *dtype = NULL;
    PyObject *name = PyUnicode_FromFormat("%c%d", kind, bytes);
    if (!name || !PyArray_DescrConverter(name, &dtype))
        dtype = NULL;
    Py_XDECREF(name);
    return dtype;
}

PyArray_Descr *dml_dlpack_dtype(dl_type type)
{
    bool power = (type.bits & (type.bits - 1)) == 0;
    for (int i = 0; type.lanes == 1 && power && i < NUMPY_TYPES; i++)
        if (type.code == numpy_types[i].code && type.bits >= numpy_types[i].least && type.bits <= numpy_types[i].most)
            return dtype_of_numpy(numpy_types[i].kind, type.bits / 8);
    for (int i = 0; type.lanes == 1 && i < ML_DTYPES_TYPES; i++)
        if (type.code == ml_dtypes_types[i].code && type.bits == ml_dtypes_types[i].bits)
            return dtype_of_ml_dtypes(ml_dtypes_types[i].name);
    PyErr_Format(PyExc_BufferError, "NumPy has no dtype for DLPack's type code %d of %d bits and %d lanes", type.code,
                 type.bits, type.lanes);
    return NULL;
}
