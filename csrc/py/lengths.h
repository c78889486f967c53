/* The sequence lengths of reverse_subsequences. */
#ifndef DML_PY_LENGTHS_H
#define DML_PY_LENGTHS_H

#include "py/python.h"

#include <stdint.h>

/* An array of integer dtype from what the caller gave. A new reference, or NULL with an exception set. May run Python.
 */
PyArrayObject *dml_lengths_from(PyObject *object);

/* The lengths' values in C order, clamped to `extent`. To be freed by PyMem_Free; NULL with an exception set, also if
 * one is negative. Runs no Python. */
int64_t *dml_lengths_clamp(PyArrayObject *lengths, int64_t extent);

#endif
