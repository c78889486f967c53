/* The module dmlops._core: what Python looks for when it loads the extension. */
#ifndef DML_PY_MODULE_H
#define DML_PY_MODULE_H

#include "py/python.h"

PyMODINIT_FUNC PyInit__core(void);

#endif
