/* Shapes: their sizes in bytes, and as Python shows them. */
#ifndef DML_PY_SHAPES_H
#define DML_PY_SHAPES_H

#include "core/tensor.h"
#include "py/python.h"

bool dml_tensor_is_empty(const dml_tensor *shape);

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
