/* Views of device arrays: what indexing makes of shape, strides and offset, and what dmlops/array_methods.py needs for other
 * views. No work for the device. */
#ifndef DML_PY_VIEWS_H
#define DML_PY_VIEWS_H

#include <stdbool.h>

#include "py/state.h"

/* Whether a key of a device array is one of basic indexing: what it selects is a view. */
bool dml_key_is_plain(PyObject *self, PyObject *key);

/* self[key]. A new reference, or NULL with an exception set. */
PyObject *dml_view_index(PyObject *self, PyObject *key);

/* Function of dmlops._core: (array, function). `function` is called with a NumPy array that has the shape and strides of the
 * device array and items of no bytes, and must return a basic view of it. The same view of `array`. */
PyObject *dml_view_by(PyObject *module, PyObject *args);

/* Function of dmlops._core: an argument `shape`, an int or several, as a tuple. */
PyObject *dml_shape(PyObject *module, PyObject *sizes);

/* self[key] = value, or `del self[key]` where `value` is NULL, which raises. 0, or -1 with an exception set. */
int dml_device_array_assign(dml_state *state, PyObject *self, PyObject *key, PyObject *value);

#endif
