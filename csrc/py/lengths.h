/* The sequence lengths of reverse_subsequences. */
#ifndef DML_PY_LENGTHS_H
#define DML_PY_LENGTHS_H

#include "py/call.h"

/* An array of integer dtype from what the caller gave: NumPy's, or one on the device that the call's input is on. A new
 * reference, or NULL with an exception set. May run Python. */
PyObject *dml_lengths_convert(const dml_call *call, PyObject *object);

/* Gives the call the lengths' values in C order, clamped to `extent`, in memory or queued on the device. 0, or -1 with an
 * exception or the call's status set: of lengths that the host can see, a negative one is an error. Runs no Python. */
int dml_lengths_gather(dml_call *call, PyObject *lengths, int64_t extent);

#endif
