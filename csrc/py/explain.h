/* What a call becomes on a device, as plain data: for `python -m dmlops explain`. */
#ifndef DML_PY_EXPLAIN_H
#define DML_PY_EXPLAIN_H

#include "core/dispatch.h"
#include "core/program.h"
#include "py/python.h"

/* The name of a capsule that holds a dml_traits. An operator that is given one as its `device` explains the call instead of
 * running it. */
#define DML_TRAITS_NAME "dmlops.traits"

/* Function of dmlops._core: a new capsule with the traits of a device, or of "cpu-class" or "gpu-class", which need none. */
PyObject *dml_explain_traits(PyObject *module, PyObject *device);

/* A list of (extent, src_stride, dst_stride, entry_stride); NULL with an exception set. */
PyObject *dml_explain_axes(const dml_plan *plan);

/* A list of the first 256 steps that are not empty: (src, dst, (item, src_offset, axes, reversed), pieces), with the index of
 * an input or None for a fill, that of a result, the plan simplified, and a dict for each of the first 256 pieces. `inputs`
 * have the addresses of arrays without memory; results begin at multiples of any alignment. The lengths are not looked at. NULL
 * with an exception set. */
PyObject *dml_explain_program(const dml_program *program, const dml_traits *traits, PyObject *const *inputs);

#endif
