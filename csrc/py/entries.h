/* The sequence lengths of reverse_subsequences, and the indices of gather. */
#ifndef DML_PY_ENTRIES_H
#define DML_PY_ENTRIES_H

#include "py/call.h"

/* Keeps an array of integer dtype made from what the caller gave, which for indices is an array: NumPy's, or one on the device
 * that the input is on. May run Python. Here and below 0, or -1 with an exception set. */
int dml_call_entries_convert(dml_call *call, PyObject *object);

/* The array's shape becomes the operator's first argument. Runs no Python from here on. */
int dml_call_entries_describe(dml_call *call);

/* Tells the program where the entries are: in a copy of NumPy's array, of which a negative one is an error, or in the device
 * array. Of indices, one out of range is an error, and the array itself may be kept: it has the machine's byte order. Where the
 * host may gather, into a new result, its kernels find such an index: `program.entries.wrong` is set, and where they are not
 * run, or have found one, dml_indices_check must be called. */
int dml_call_entries_read(dml_call *call);

/* Whether all indices are in range. */
int dml_indices_check(const dml_call *call);

#endif
