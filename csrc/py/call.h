/* One call of an operator, from its arguments to its result: the path that all operators share.
 *
 *     dml_call_begin     checks the number of arguments
 *     dml_call_convert   input, out, device (convert.h); then the operator converts the arguments of its own
 *     dml_call_describe  looks at the inputs' memory; then the operator's *_shape checks its rules
 *     dml_call_open      finds the device and the memory for the results; then the operator's *_program fills in `program`
 *     dml_call_run       moves the bytes and ends the call
 *
 * A call that fails on the way ends by dml_call_fail. Both ends release all that the call holds. Functions that return int
 * return 0, or -1 with an exception or `status` set. */
#ifndef DML_PY_CALL_H
#define DML_PY_CALL_H

#include "core/program.h"
#include "py/device_choice.h"
#include "py/progress.h"
#include "py/state.h"
#include "vk/vk.h"

/* One result. */
typedef struct dml_output {
    PyObject *caller; /* owned: the argument `out`; NULL: a new result */
    PyObject *out;    /* owned: `caller`, as a view that nobody else has from dml_call_describe on, as the inputs */
    PyObject *target; /* owned; what the program writes: `out`, a new result, or an array to be copied to `out` */
} dml_output;

typedef struct dml_call {
    const dml_state *state;
    const char *input_name; /* of the first, for messages */
    /* Inputs and outputs are all NumPy's, or all on one device. Where there is one, it is kept in `one`. */
    int64_t input_count, output_count;
    PyObject **inputs; /* owned */
    dml_tensor *sources;
    dml_output *outputs;
    dml_tensor *targets;            /* of the outputs' `target` */
    bool listed;                    /* the result is a list of the outputs */
    void *fill;                     /* owned, by PyMem: the item that the program repeats; or NULL */
    PyObject *fill_dtype;           /* owned: of `fill`, where it was made before the inputs were looked at; or NULL */
    int64_t *lengths;               /* owned, by PyMem; NULL but for reverse_subsequences */
    dml_allocation *device_lengths; /* owned; the same where the inputs are device arrays */
    dml_choice device;
    bool device_named;           /* `device` is known: the caller named it, or inputs are on it; else dml_call_open finds one */
    const dml_traits *explained; /* borrowed: of the device for which to explain the call instead of running it; else NULL */
    dml_progress progress;
    dml_plan plan; /* of a program of one step */
    dml_program program;
    dml_status status;
    struct {
        PyObject *input;
        dml_tensor source;
        dml_output output;
        dml_tensor target;
    } one;
} dml_call;

/* `module` is dmlops._core, `wanted` the number of arguments that the operator has. */
int dml_call_begin(dml_call *call, PyObject *module, Py_ssize_t count, Py_ssize_t wanted);

/* From here on none of the caller's own code runs, except what other threads and the garbage collector run. */
int dml_call_describe(dml_call *call);

/* `targets` have the results' shapes; get their strides. Only here, when the arguments are known to be right, a missing device
 * is an error. */
int dml_call_open(dml_call *call);

/* The result, or the explanation; NULL with an exception set. */
PyObject *dml_call_run(dml_call *call);

/* The same of a program whose only step is call->plan. */
PyObject *dml_call_run_plan(dml_call *call);

/* Raises `status`, unless an exception is set; always NULL. */
PyObject *dml_call_fail(dml_call *call);

#endif
