/* What a call becomes on a device, as plain data: for `python -m dmlops explain`. */
#ifndef DML_PY_EXPLAIN_H
#define DML_PY_EXPLAIN_H

#include "base/status.h"
#include "kernels/dispatch.h"
#include "plan/program.h"
#include "py/device_choice.h"
#include "py/state.h"

/* The traits of an argument `device=`, or of "cpu-class" or "gpu-class", which need no device. 0, or -1 with an exception or
 * `status` set. */
int dml_explain_traits(const dml_state *state, PyObject *device, dml_traits *traits, dml_choice *choice, dml_status *status);

/* A list of (extent, src_stride, dst_stride, entry_stride); NULL with an exception set. */
PyObject *dml_explain_axes(const dml_plan *plan);

/* A list of the first 256 steps that are not empty: (src, dst, (item, src_offset, axes, reversed), pieces), with the index of
 * an input or None for a fill, that of a result, the plan simplified, and a dict for each of the first 256 pieces. `inputs`
 * have the addresses of arrays without memory; results begin at multiples of any alignment. The entries are not looked at. NULL
 * with an exception set. */
PyObject *dml_explain_program(const dml_program *program, const dml_traits *traits, const dml_choice *choice,
                              PyObject *const *inputs);

#endif
