/* What a call becomes on a device, as plain data: for `python -m dmlops explain`. */
#ifndef DML_PY_EXPLAIN_H
#define DML_PY_EXPLAIN_H

#include "py/python.h"

/* device, operator, bytes of an element, shape, and the operator's own arguments in the order of entry_points.c; for
 * sequence_lengths, their shape. `device` may be "cpu-class" or "gpu-class" as well. Gives ((item, src_offset, axes,
 * reversed), pieces): the plan simplified, and a dict for each of the first 256 pieces; arrays begin at multiples of any
 * alignment. */
PyObject *dml_py_explain(PyObject *module, PyObject *args);

#endif
