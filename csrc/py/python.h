/* Python's limited API (3.11 and later) and NumPy's C API (1.25 and later), set up the same way for every file here.
 * Only csrc/py includes this; module.c defines DML_IMPORTS_NUMPY and so owns the table of NumPy's functions. */
#ifndef DML_PY_PYTHON_H
#define DML_PY_PYTHON_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h> /* NumPy names FILE, and the limited API does not bring it */

#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dml_numpy_api
#ifndef DML_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

/* Appends a new reference, which may be NULL after a failure; 0, or -1 with an exception set. */
static inline int dml_append(PyObject *list, PyObject *item)
{
    int failed = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return failed;
}

/* Room for `count`, zeroed; one of which is zero bytes is none. NULL with an exception set. */
static inline void *dml_zeroed(int64_t count, size_t size)
{
    void *memory = PyMem_Calloc((size_t)(count > 0 ? count : 1), size);
    return memory ? memory : PyErr_NoMemory();
}

#endif
