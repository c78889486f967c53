/* Where the bytes of results come from, as NumPy and as the user see it. Every function needs the GIL. */
#ifndef DML_PY_RESULT_MEMORY_H
#define DML_PY_RESULT_MEMORY_H

#include <stdint.h>

#include "py/state.h"

/* Results of fewer bytes come from NumPy's own allocator, which has them ready: ours would cost more than it saves. */
enum { DML_LARGE_RESULT = 64 * 1024 };

/* Makes our allocator known to NumPy. 0, or -1 with an exception set. */
int dml_memory_init(dml_state *state);

/* Reads DMLOPS_CACHE, before anything comes from the cache. 0, or -1 with an exception set: ValueError where it is no size. */
int dml_memory_ready(void);

/* Around the making of one array of `bytes`: in between, NumPy allocates its data from the cache if it is large, unless
 * nothing is to be kept or the program has told NumPy to use another allocator than its own. `*others` is for
 * dml_memory_return. 0, or -1 with an exception set: ValueError for a DMLOPS_CACHE that is no size. */
int dml_memory_lend(const dml_state *state, int64_t bytes, PyObject **others);

/* May be called with an exception set, which stays. 0, or -1 with an exception set. */
int dml_memory_return(PyObject *others);

/* A new tuple of the fields of dmlops.MemoryInfo for `device`, None being the host. May run Python. */
PyObject *dml_memory_info(const dml_state *state, PyObject *device);

/* Frees what is kept; None. */
PyObject *dml_memory_empty(const dml_state *state);

/* Bytes of memory that the machine has; 0 if unknown. */
unsigned long long dml_memory_of_machine(void);

#endif
