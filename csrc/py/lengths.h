/* The sequence lengths of reverse_subsequences. */
#ifndef DML_PY_LENGTHS_H
#define DML_PY_LENGTHS_H

#include "py/call.h"

/* Keeps an array of integer dtype made from what the caller gave: NumPy's, or one on the device that the input is on. May run
 * Python. Here and below 0, or -1 with an exception set. */
int dml_lengths_convert(dml_call *call, PyObject *object);

/* The array's shape becomes the operator's first argument. Runs no Python from here on. */
int dml_lengths_describe(dml_call *call);

/* If the call has lengths, and they are on a device or not as `device` says: gives it their values in C order, clamped as the
 * program says, in memory or queued on the device. Of lengths that the host can see, a negative one is an error. May set the
 * call's status instead. */
int dml_lengths_gather(dml_call *call, bool device);

#endif
