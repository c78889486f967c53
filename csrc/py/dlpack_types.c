#include "py/dlpack_types.h"

#include <stdbool.h>

/* NumPy's own by kind and bytes, then those of the package ml_dtypes by name. */
static const struct {
    const char *name;
    uint8_t code;
    uint8_t bits;
} types[] = {
    {"i1", 0, 8},
    {"i2", 0, 16},
    {"i4", 0, 32},
    {"i8", 0, 64},
    {"u1", 1, 8},
    {"u2", 1, 16},
    {"u4", 1, 32},
    {"u8", 1, 64},
    {"f2", 2, 16},
    {"f4", 2, 32},
    {"f8", 2, 64},
    {"c8", 5, 64},
    {"c16", 5, 128},
    {"b1", 6, 8},
    {"bfloat16", 4, 16},
    {"float8_e3m4", 7, 8},
    {"float8_e4m3", 8, 8},
    {"float8_e4m3b11fnuz", 9, 8},
    {"float8_e4m3fn", 10, 8},
    {"float8_e4m3fnuz", 11, 8},
    {"float8_e5m2", 12, 8},
    {"float8_e5m2fnuz", 13, 8},
    {"float8_e8m0fnu", 14, 8},
};
enum { TYPES = sizeof types / sizeof types[0], OF_NUMPY = 14 };

int dml_dlpack_type(PyArray_Descr *dtype, dl_type *type)
{
    bool of_numpy = !PyTypeNum_ISUSERDEF(dtype->type_num), found = false;
    PyObject *name = of_numpy ? NULL : PyObject_GetAttrString((PyObject *)dtype, "name");
    if (!of_numpy && !name)
        return -1;
    for (int i = of_numpy ? 0 : OF_NUMPY; i < (of_numpy ? OF_NUMPY : TYPES) && !found; i++) {
        *type = (dl_type){.code = types[i].code, .bits = types[i].bits, .lanes = 1};
        found = of_numpy ? types[i].name[0] == dtype->kind && types[i].bits == 8 * PyDataType_ELSIZE(dtype)
                         : PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, types[i].name) == 0;
    }
    Py_XDECREF(name);
    if (found && PyArray_ISNBO(dtype->byteorder))
        return 0;
    PyErr_Format(PyExc_BufferError, "DLPack has no elements of dtype %S", (PyObject *)dtype);
    return -1;
}

static PyObject *type_in_ml_dtypes(const char *name)
{
    PyObject *module = PyImport_ImportModule("ml_dtypes"), *type = module ? PyObject_GetAttrString(module, name) : NULL;
    if (module && !type)
        PyErr_Format(PyExc_BufferError, "this ml_dtypes has no %s", name);
    else if (!module && PyErr_ExceptionMatches(PyExc_ImportError))
        PyErr_Format(PyExc_BufferError, "elements of type %s need the package ml_dtypes", name);
    Py_XDECREF(module);
    return type;
}

PyArray_Descr *dml_dlpack_dtype(dl_type type)
{
    int i = 0;
    while (i < TYPES && (type.code != types[i].code || type.bits != types[i].bits || type.lanes != 1))
        i++;
    if (i == TYPES) {
        PyErr_Format(PyExc_BufferError, "NumPy has no dtype for DLPack's type code %d of %d bits and %d lanes", type.code,
                     type.bits, type.lanes);
        return NULL;
    }
    PyObject *like = i < OF_NUMPY ? PyUnicode_FromString(types[i].name) : type_in_ml_dtypes(types[i].name);
    PyArray_Descr *dtype = NULL;
    if (!like || !PyArray_DescrConverter(like, &dtype))
        dtype = NULL; /* uncovered: the compiler folds it into the line before */
    Py_XDECREF(like);
    return dtype;
}
