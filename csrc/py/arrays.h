/* NumPy arrays going in and coming out. */
#ifndef DML_PY_ARRAYS_H
#define DML_PY_ARRAYS_H

#include "core/operators.h"
#include "py/module.h"

/* What numpy.asarray makes of an object: a base-class array, a copy only if there is no other way. A new reference, or
 * NULL with an exception set; TypeError for a dtype whose elements are not plain bytes. May run Python. */
PyArrayObject *dml_array_from(PyObject *object, const char *name);

/* How the array lies in memory, now. */
void dml_array_describe(PyArrayObject *array, dml_tensor *tensor);

/* A new C-contiguous array of `shape` with the dtype of `like`: where every result comes from. Its bytes are undefined,
 * of a large one even those of a result freed before: nobody may see them. A new reference, or NULL with an exception
 * set. */
PyArrayObject *dml_result_new(const dml_state *state, PyArrayObject *like, const dml_tensor *shape);

/* Whether `out` can take a result of this shape and of `like`'s dtype; 0, or -1 with an exception set. */
int dml_out_check(PyObject *out, PyArrayObject *like, const dml_tensor *shape);

/* Whether the memory from the first to the last byte of one meets that of the other: cheap, and enough, for what
 * follows is only a detour. */
bool dml_arrays_meet(PyArrayObject *a, PyArrayObject *b);

#endif
