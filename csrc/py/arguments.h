/* Python arguments as C values. Each function returns 0, or -1 with an exception set that names the argument.
 *
 * Conversion may run the caller's Python (`__index__`, `__iter__`), which may change any array. So an operator converts all of
 * its arguments before it reads the shape or the address of an array. */
#ifndef DML_PY_ARGUMENTS_H
#define DML_PY_ARGUMENTS_H

#include "plan/tensor.h"
#include "py/python.h"

/* Anything with __index__ but bool, as an int64. Of arrays, those of a single int. */
int dml_int_from(PyObject *object, const char *name, int64_t *value);

/* Likewise, where other types are taken, too: `wanted` names all, for the message. */
int dml_int_among(PyObject *object, const char *name, const char *wanted, int64_t *value);

/* Whether the object is an int, or has __index__ and is no bool. Runs no Python. */
bool dml_is_int(PyObject *object);

/* From any iterable of ints except str, bytes, sets and mappings. */
int dml_ints_from(PyObject *object, const char *name, dml_ints *ints);

/* Likewise, or from one int: then `ints` is `single` and has one entry. */
int dml_int_or_ints_from(PyObject *object, const char *name, dml_ints *ints);

/* The argument `shape`: one int, or as many as an array can have axes. */
int dml_shape_from(PyObject *object, dml_ints *shape);

/* Any number of ints: to be freed by PyMem_Free. */
int dml_int_list_from(PyObject *object, const char *name, int64_t **values, int64_t *count);

/* A new tuple of any iterable except str, bytes, sets and mappings; NULL with an exception set. `wanted` says what is. */
PyObject *dml_tuple_from(PyObject *object, const char *name, const char *wanted);

/* One of `enumerators`, two or more strings and NULL: its index. */
int dml_enum_from(PyObject *object, const char *name, const char *const *enumerators, int64_t *index);

#endif
