/* Python arguments as C values. Each function returns 0, or -1 with an exception set that names the argument.
 *
 * Conversion may run anybody's Python (`__index__`, `__iter__`), which may change any array. So an operator converts
 * all of its arguments first and looks at the arrays' shapes and pointers last.
 */
#ifndef DML_PY_ARGUMENTS_H
#define DML_PY_ARGUMENTS_H

#include "core/operators.h"
#include "py/python.h"

/* Anything with __index__ but bool, as an int64. */
int dml_int_from(PyObject *object, const char *name, int64_t *value);

/* Whether the object may stand where an int is wanted. Runs no Python. */
bool dml_is_int(PyObject *object);

/* Any iterable of ints but text, bytes, sets and mappings. */
int dml_ints_from(PyObject *object, const char *name, dml_ints *ints);

/* The same, or one int: then `*single`, and one entry. */
int dml_int_or_ints_from(PyObject *object, const char *name, dml_ints *ints, bool *single);

/* One of two words; `*second` says which. */
int dml_word_from(PyObject *object, const char *name, const char *word0, const char *word1, bool *second);

#endif
