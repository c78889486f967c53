/* The value that padding fills with. */
#ifndef DML_PY_FILL_H
#define DML_PY_FILL_H

#include "py/call.h"

/* Gives the call the item that numpy.full would make of a value in the inputs' dtype; TypeError or OverflowError where the
 * dtype does not hold it. It runs the caller's code, and so comes before dml_call_describe, which sees whether the dtype is
 * still the same. 0, or -1 with an exception set. */
int dml_fill_from(dml_call *call, PyObject *value);

/* Gives the call an item of zeros. */
int dml_fill_zero(dml_call *call);

#endif
