/* Compiled programs as Python holds them: capsules, which dmlops.fuse makes. */
#ifndef DML_PY_COMPILED_PROGRAM_H
#define DML_PY_COMPILED_PROGRAM_H

#include "plan/compiled.h"
#include "py/state.h"

typedef struct dml_compiled_program {
    dml_compiled compiled;
    PyObject *dtypes;    /* owned: a list, of the inputs, then of the results */
    PyObject *constants; /* owned: bytes */
} dml_compiled_program;

/* Function of dmlops._core: (arrays, number of inputs, steps, constants, variants of each step). The arrays are the inputs,
 * then the results, as dml_array_described takes them; constants are bytes. Steps are bytes of 64-bit integers: for each step
 * the members of dml_compiled_step but the last, then for each of its axes the members of dml_compiled_axis. */
PyObject *dml_compile(PyObject *module, PyObject *args);

/* Function of dmlops._core: (program, selections), the steps as the device is given them, with C-contiguous results: a list of
 * (src, dst, item, src_offset, dst_offset, entries, [(extent, src_stride, dst_stride, entry_stride), ...]). `entries`
 * is where the first row of a table begins in the constants, or -1. */
PyObject *dml_compiled_steps(PyObject *module, PyObject *args);

/* Selections, the members of a dml_selection for each step as bytes of 64-bit integers, or None. They are borrowed from these.
 * -1 with an exception set where they are none of this program. */
int dml_compiled_selections(const dml_compiled_program *program, PyObject *bytes, const dml_selection **selections,
                            dml_status *status);

/* Borrowed; NULL with an exception set where the object is no program. */
const dml_compiled_program *dml_compiled_from(PyObject *program);

/* Of a result; borrowed. */
PyArray_Descr *dml_compiled_dtype(const dml_compiled_program *program, int64_t result);

/* Whether an array is what the program was compiled for as input `index`; else -1 with an exception set, with its name. */
int dml_compiled_check_input(const dml_compiled_program *program, int64_t index, PyObject *array, const char *name);

#endif
