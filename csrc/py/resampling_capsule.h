/* What Python needs to resize: resamplings as it holds them, capsules, which dmlops.operators.resizing makes. */
#ifndef DML_PY_RESAMPLING_CAPSULE_H
#define DML_PY_RESAMPLING_CAPSULE_H

#include "py/state.h"
#include "resampling/resampling.h"

/* Function of dmlops._core: (library, filter, (rows, columns) of the input, those of the result, `from`, `to`, items, newer),
 * the members of a dml_resampling_request. None if the result is the input. */
PyObject *dml_resampling_new(PyObject *module, PyObject *args);

/* Function of dmlops._core, for tests: a pair of lists. Of passes: (axis, inputs, taps, shift, is_float, inside, kind, shift of
 * the sum, number, rows as bytes); of parts: (begin, end, kind, shift, half, multiplier, factor). */
PyObject *dml_resampling_described(PyObject *module, PyObject *resampling);

/* Borrowed; NULL with an exception set where the object is none. */
const dml_resampling *dml_resampling_from(PyObject *resampling);

/* Functions of dmlops._core, for tests: (), the names of the host's kernels for resizing that this processor runs, the fastest
 * first; (name), all calls use the one of this name from now on, with None the fastest. */
PyObject *dml_resize_kernels(PyObject *module, PyObject *none);
PyObject *dml_resize_by(PyObject *module, PyObject *name);

/* Function of dmlops._core: (array, multiplies). A NumPy array of bytes with two axes or more, whose last channel is alpha, as
 * a new one: with the other channels times alpha, or divided by it. */
PyObject *dml_with_alpha(PyObject *module, PyObject *args);

#endif
