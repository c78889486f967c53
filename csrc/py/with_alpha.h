/* What dmlops.resizing needs for images with alpha. */
#ifndef DML_PY_WITH_ALPHA_H
#define DML_PY_WITH_ALPHA_H

#include "py/python.h"

/* Function of dmlops._core: (array, multiplies). A NumPy array of bytes with two axes or more, whose last channel is alpha, as
 * a new one: with the other channels times alpha, or divided by it. */
PyObject *dml_with_alpha(PyObject *module, PyObject *args);

#endif
