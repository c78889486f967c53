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

/* input, start_padding, end_padding, mode, value, out, device */
PyObject *dml_py_padding(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* input, repeats, out, device */
PyObject *dml_py_tile(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* inputs, axis, out, device */
PyObject *dml_py_join(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* input, axis, output_axis_sizes, out, device */
PyObject *dml_py_split(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* input, axes, out, device */
PyObject *dml_py_transpose(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* input, scale_size, layout, out, device */
PyObject *dml_py_upsample(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* gradient, output_shape, offsets, sizes, strides, out, device */
PyObject *dml_py_slice_grad(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
