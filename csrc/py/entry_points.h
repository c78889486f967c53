/* The operators as functions of dmlops._core: METH_FASTCALL, every argument given, None where the caller left one out. Those of
 * a dml_operator are its input, its own parameters, `out`, `device`, and `how` it is run: None; the number of the
 * row of call_counts.h where it is counted; for progress.h, a tuple; or "explain", for explain.h. */
#ifndef DML_PY_ENTRY_POINTS_H
#define DML_PY_ENTRY_POINTS_H

#include "ops/operator.h"
#include "py/python.h"

#define DML_DECLARE_ENTRY_POINT(name) PyObject *dml_py_##name(PyObject *module, PyObject *const *args, Py_ssize_t count);
DML_OPERATORS(DML_DECLARE_ENTRY_POINT)

/* Likewise: (input, resampling, axes, window, out, device, how). `axes` are the rows and columns, `window` is None, or of
 * the result the first row, the number of rows, the first column and the number of columns. */
PyObject *dml_resample(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* Likewise: (program, inputs, out, device, how), and where a sixth is given the selections that dml_compiled_steps takes, too.
 * `program` is of dml_compile. The result is a list, and so is `out`. */
PyObject *dml_run_compiled(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
