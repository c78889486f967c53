/* What one import of dmlops._core owns. */
#ifndef DML_PY_MODULE_H
#define DML_PY_MODULE_H

#include "py/python.h"

/* Every member is an owned reference. */
typedef struct dml_state {
    PyObject *vulkan_error;
    PyObject *out_of_device_memory_error;
    PyObject *device_lost_error;
    PyObject *no_device_error;
    PyObject *axis_error;   /* numpy.exceptions.AxisError */
    PyObject *device_class; /* dmlops.Device, which is written in Python */
    PyTypeObject *device_array_type;
    PyObject *memory_handler; /* NumPy's name for an allocator of array data: ours, a capsule */
} dml_state;

dml_state *dml_state_of(PyObject *module);

/* The operators, as METH_FASTCALL functions; see operators.c for the order of their arguments. */
PyObject *dml_py_reverse_subsequences(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *dml_py_depth_to_space(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *dml_py_space_to_depth(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *dml_py_slice(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
