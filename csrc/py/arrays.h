/* Arrays going in and coming out: NumPy's, and those on a device. What is not said to be one or the other is either; it has been
 * checked to be one of them. */
#ifndef DML_PY_ARRAYS_H
#define DML_PY_ARRAYS_H

#include "core/operators.h"
#include "py/device_array.h"
#include "py/module.h"
#include "vk/vk.h"

/* What numpy.asarray makes of an object: a copy only if there is no other way. `dtype` is NULL or taken. A new reference, or NULL with an
 * exception set. May run Python. */
PyArrayObject *dml_array_any(PyObject *object, PyArray_Descr *dtype, const char *name);

/* Likewise; TypeError for a dtype whose elements are not plain bytes. */
PyArrayObject *dml_array_from(PyObject *object, const char *name);

/* Replaces a reference by one to a view that nobody else has: others may give the array another shape, strides or dtype whenever a
 * thread or the garbage collector runs. For when the caller's own code has run, which may even give it other memory. Device arrays never
 * change. 0, or -1 with an exception set. */
int dml_make_private(PyObject **array);

/* Whether elements of a dtype are plain bytes; 0, or -1 with a TypeError set. */
int dml_dtype_check(PyArray_Descr *dtype, const char *name);

/* NumPy's own integers, and those of other packages whose values all fit into int64, as ml_dtypes' int4. */
bool dml_dtype_is_integer(PyArray_Descr *dtype);

/* How an array lies in memory, now; where its first element is; its dtype, borrowed. */
void dml_array_describe(PyObject *array, dml_tensor *tensor);
dml_operand dml_array_operand(PyObject *array);
PyArray_Descr *dml_array_dtype(PyObject *array);

/* A new C-contiguous NumPy array of `shape`: where every result comes from. Its bytes are undefined, of a large one even those of
 * a result freed before: nobody may see them. A new reference, or NULL with an exception set. */
PyObject *dml_result_new(const dml_state *state, PyArray_Descr *dtype, const dml_tensor *shape);

/* Raises ValueError with two shapes, for each of which `format` has a %R; always -1. */
int dml_wrong_shape(const char *format, const dml_tensor *first, const dml_tensor *second);

/* Whether `out` can take a result of this shape and dtype; 0, or -1 with an exception set. */
int dml_out_check(PyObject *out, PyArray_Descr *dtype, const dml_tensor *shape);

bool dml_tensor_is_empty(const dml_tensor *shape);

/* Bytes of an array of this shape; INT64_MAX for more than that, also where an axis is empty but the others are too large, as in NumPy. */
int64_t dml_tensor_bytes(const dml_tensor *shape);

/* Whether there can be such an array; 0, or -1 with an exception set. */
int dml_shape_check(const dml_tensor *shape);

/* Whether the memory from the first to the last byte of one meets that of the other: cheap, and enough, for what
 * follows is only a detour. */
bool dml_arrays_may_overlap(PyObject *a, PyObject *b);

#endif
