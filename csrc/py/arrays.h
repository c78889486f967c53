/* Arrays of either kind, NumPy's and device arrays, and their shapes. A PyObject that stands for an array has been checked to
 * be one of them. */
#ifndef DML_PY_ARRAYS_H
#define DML_PY_ARRAYS_H

#include "plan/tensor.h"
#include "py/device_array.h"
#include "py/state.h"
#include "vk/vk.h"

/* What numpy.asarray makes of an object: a copy only if there is no other way. `dtype` is NULL or stolen. A new reference, or
 * NULL with an exception set that names the argument. May run Python. */
PyArrayObject *dml_array_any(PyObject *object, PyArray_Descr *dtype, const char *name);

/* Likewise; for a dtype whose elements are not plain bytes a TypeError that says what to do. */
PyArrayObject *dml_array_from(PyObject *object, PyArray_Descr *dtype, const char *name);

/* An array that has no memory: only C code gets to see it, and reads none of it. From (dtype, shape, strides), and optionally
 * the bytes before it where it is a view. A new reference, or NULL with an exception set. */
PyObject *dml_array_described(PyObject *description, const char *name);

/* Replaces a reference by one to a view that nobody else has: others may give the array another shape, strides or dtype
 * whenever a thread or the garbage collector runs. Its dtype must be checked after that. Device arrays never change. 0, or -1
 * with an exception set. */
int dml_make_private(PyObject **array);

/* Whether elements of a dtype are plain bytes; 0, or -1 with a TypeError set. */
int dml_dtype_check(PyArray_Descr *dtype, const char *name);

/* How an array lies in memory, now; where its first element is; its dtype, borrowed. */
void dml_array_describe(PyObject *array, dml_tensor *tensor);
dml_operand dml_array_operand(PyObject *array);
PyArray_Descr *dml_array_dtype(PyObject *array);

/* A new C-contiguous NumPy array of `shape`: where every result comes from. Its bytes are undefined, of a large one even those
 * of a result freed before: nobody may see them. A new reference, or NULL with an exception set. */
PyObject *dml_result_new(const dml_state *state, PyArray_Descr *dtype, const dml_tensor *shape);

/* --- shapes ------------------------------------------------------------------------------------------------------ */

/* Bytes of an array of this shape; INT64_MAX for more than that, also where an axis is empty but the others are too large, as
 * in NumPy. */
int64_t dml_tensor_bytes(const dml_tensor *shape);

/* Whether there can be such an array; 0, or -1 with an exception set. */
int dml_shape_check(const dml_tensor *shape);

/* `count` ints as a new tuple; those of a shape. NULL with an exception set. */
PyObject *dml_ints_tuple(const int64_t *values, int count);
PyObject *dml_shape_tuple(const dml_tensor *tensor);

/* Raises ValueError with two shapes, for each of which `format` has a %R behind a %s for `name`; always -1. */
int dml_wrong_shape(const char *format, const char *name, const dml_tensor *first, const dml_tensor *second);

#endif
