/* The operators as functions of dmlops._core: METH_FASTCALL, every argument given, None where the caller left one out. */
#ifndef DML_PY_ENTRY_POINTS_H
#define DML_PY_ENTRY_POINTS_H

#include "py/python.h"

/* input, sequence_lengths, axis, batch_axis, out, device */
PyObject *dml_py_reverse_subsequences(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* input, block_size, order, layout, out, device */
PyObject *dml_py_depth_to_space(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *dml_py_space_to_depth(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* input, offsets, sizes, strides, output_sizes, out, device */
PyObject *dml_py_slice(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
