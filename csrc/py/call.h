/* One call of an operator, from its arguments to its result: the path that all operators share.
 *
 *     dml_call_begin     checks the number of arguments
 *     dml_call_convert   input, out, device; then the operator converts the arguments of its own
 *     dml_call_describe  looks at the input's memory; then the operator's *_shape checks its rules
 *     dml_call_open      finds the device and the memory for the result; then the operator's *_plan fills in `plan`
 *     dml_call_run       moves the bytes and ends the call
 *
 * A call that fails on the way ends by dml_call_fail. Both ends release all that the call holds. Functions that return int
 * return 0, or -1 with an exception or `status` set. */
#ifndef DML_PY_CALL_H
#define DML_PY_CALL_H

#include "core/operators.h"
#include "py/device_choice.h"
#include "py/state.h"
#include "vk/vk.h"

typedef struct dml_call {
    const dml_state *state;
    PyObject *input;        /* owned; NumPy's or on a device, and then so are the next three */
    PyObject *caller_out;   /* borrowed: the argument `out`; NULL: a new result */
    PyObject *out;          /* owned: `caller_out`, as a view that nobody else has from dml_call_describe on, as `input` */
    PyObject *target_array; /* owned; what the plan writes: `out`, a new result, or an array to be copied to `out` */
    int64_t *lengths;       /* owned, by PyMem; NULL but for reverse_subsequences */
    dml_allocation *device_lengths; /* owned; the same where input is a device array */
    dml_choice device;
    bool device_named;           /* `device` is known: the caller named it, or `input` is on it; else dml_call_open finds one */
    const dml_traits *explained; /* borrowed: of the device for which to explain the call instead of running it; else NULL */
    dml_tensor source;           /* `input` */
    dml_tensor target;           /* `target_array` */
    dml_plan plan;
    dml_status status;
} dml_call;

/* `module` is dmlops._core, `wanted` the number of arguments that the operator has. */
int dml_call_begin(dml_call *call, PyObject *module, Py_ssize_t count, Py_ssize_t wanted);

/* Converts the arguments that all operators have; None stands for an `out` or `device` left out. */
int dml_call_convert(dml_call *call, PyObject *input, PyObject *out, PyObject *device);

/* From here on none of the caller's own code runs, except what other threads and the garbage collector run. */
int dml_call_describe(dml_call *call);

/* `target` has the result's shape; gets its strides. Only here, when the arguments are known to be right, a missing device is
 * an error. */
int dml_call_open(dml_call *call);

/* The result, or the explanation; NULL with an exception set. */
PyObject *dml_call_run(dml_call *call);

/* Raises `status`, unless an exception is set; always NULL. */
PyObject *dml_call_fail(dml_call *call);

#endif
