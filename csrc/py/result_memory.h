/* The memory of NumPy results: an allocator for NumPy, memory_info and empty_cache. Every function needs the GIL. */
#ifndef DML_PY_RESULT_MEMORY_H
#define DML_PY_RESULT_MEMORY_H

#include <stdint.h>

#include "py/state.h"

/* Bytes. Smaller results come from NumPy's own allocator, which is faster for them. */
enum { DML_LARGE_RESULT = 64 * 1024 };

/* Makes the allocator. 0, or -1 with an exception set. */
int dml_memory_init(dml_state *state);

/* Reads DMLOPS_CACHE at first, and then follows the memory that the process may use; precedes every use of the cache. 0, or -1
 * with an exception set: ValueError where the variable is no size. */
int dml_memory_ready(void);

/* From dml_memory_lend to dml_memory_return, NumPy allocates from the cache: for one array of `bytes`, if that is large,
 * pooling is on, and the program has not given NumPy an allocator of its own. `*others` is the argument of dml_memory_return.
 * 0, or -1 with an exception set: ValueError where DMLOPS_CACHE is no size. */
int dml_memory_lend(const dml_state *state, int64_t bytes, PyObject **others);

/* May be called with an exception set, which stays. 0, or -1 with an exception set. */
int dml_memory_return(PyObject *others);

/* Functions of dmlops._core: (device), None being the host, a new tuple of the fields of dmlops.MemoryInfo; (), which frees all
 * pooled memory. */
PyObject *dml_memory_info(PyObject *module, PyObject *device);
PyObject *dml_empty_cache(PyObject *module, PyObject *none);

/* Function of dmlops._core, for tests: control groups are those below a folder, None for the system's; pooled memory is idle
 * after so many milliseconds. Returns dml_usable_memory_now. */
PyObject *dml_play_memory(PyObject *module, PyObject *args);

#endif
