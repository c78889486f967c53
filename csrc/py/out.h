/* Whether an array can receive a result: its shape, its dtype, and memory that it shares with itself or with others. */
#ifndef DML_PY_OUT_H
#define DML_PY_OUT_H

#include "plan/tensor.h"
#include "py/python.h"

/* Whether `out`, of either kind, can receive a result of this shape and of the dtype of the argument `like`; 0, or -1 with an
 * exception set. */
int dml_out_check(PyObject *out, const char *name, PyArray_Descr *dtype, const char *like, const dml_tensor *shape);

/* Whether any two elements of arrays may share a byte (plan/overlap.h): 1 with the indices of two arrays in `pair`, the smaller
 * one first, which are the same where an array overlaps itself; 0; or -1 with an exception set. */
int dml_arrays_overlap(PyObject *const *arrays, int64_t count, int64_t pair[2]);

/* Whether the bytes from the first to the last that one array uses overlap those of the other. True also for arrays that
 * interleave without sharing a byte, which then go through a temporary one. */
bool dml_arrays_may_overlap(PyObject *a, PyObject *b);

#endif
