/* Views of device arrays: what indexing, reshaping and transposing make of shape, strides and offset. No work for the
 * device. */
#ifndef DML_PY_VIEWS_H
#define DML_PY_VIEWS_H

#include "py/state.h"

/* self[key]; self.reshape(...) and self.transpose(...), each with its arguments as a tuple; self.T. A new reference, or NULL
 * with an exception set. */
PyObject *dml_view_index(PyObject *self, PyObject *key);
PyObject *dml_view_reshape(PyObject *self, PyObject *args);
PyObject *dml_view_transpose(PyObject *self, PyObject *args);
PyObject *dml_view_t(PyObject *self, void *closure);

/* Function of dmlops._core: (array, function). `function` is called with a NumPy array that has the shape and strides of the
 * device array but no memory, and must return a basic view of it without reading or keeping it. The same view of `array`. */
PyObject *dml_view_by(PyObject *module, PyObject *args);

#endif
