/* One call of an operator, from its arguments to its result: the path that all operators share.
 *
 *     dml_call_begin     checks the number of arguments, which are then converted (entry_points.c, convert.h)
 *     dml_call_describe  looks at the inputs' memory; then dml_operator_shape checks the operator's rules
 *     dml_call_open      finds the device and the memory for the results
 *     dml_call_run       moves the bytes and ends the call
 *
 * A call that fails on the way ends by dml_call_fail. Both ends release all that the call holds. Functions that return int
 * return 0, or -1 with an exception or `status` set. */
#ifndef DML_PY_CALL_H
#define DML_PY_CALL_H

#include "ops/operator.h"
#include "py/call_counts.h"
#include "py/compiled_program.h"
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
    const char *input_name;               /* of the first, for messages */
    const dml_compiled_program *compiled; /* borrowed: what is run in place of an operator, or NULL */
    PyObject *recorder; /* owned: the function that records the call, since `traced` has arrays that are only traced; */
    PyObject *traced;   /* owned: the input, or a tuple of the inputs; both are NULL but for such a call that has failed */
    /* Inputs and outputs are all NumPy's, or all on one device. Where there is one, it is kept in `one`. */
    PyObject **inputs; /* owned */
    dml_output *outputs;
    bool listed;          /* the result is a list of the outputs */
    PyObject *fill;       /* owned: bytes, the item that the program repeats; or NULL */
    PyObject *fill_dtype; /* owned: that of the inputs when `fill` was converted; or NULL */
    PyObject *entries_of; /* owned: the array that is the operator's first argument; NULL but for lengths and indices */
    dml_choice device;
    bool device_named; /* `device` is known: the caller named it, or inputs are on it; else dml_call_open finds one */
    bool explained;    /* instead of being run, for a device with `traits` */
    dml_progress progress;
    dml_counted_as counted_as;
    bool wrong_index;    /* the host has clamped one while it ran the program */
    dml_program program; /* its arrays' tensors and parts are the call's */
    dml_status status;
    dml_ints args[DML_MAX_PARAMETERS];
    dml_traits traits;
    struct {
        PyObject *input;
        dml_tensor source;
        dml_output output;
        dml_tensor target;
    } one;
} dml_call;

/* `module` is dmlops._core, `row` where the call is counted unless `how` says another, `count` the number of arguments. */
int dml_call_begin(dml_call *call, PyObject *module, const dml_operator *op, int row, Py_ssize_t count);

/* From here on none of the caller's own code runs, except what other threads and the garbage collector run. */
int dml_call_describe(dml_call *call);

/* Gives the results' tensors, which have shapes, their strides. Only here, when the arguments are known to be right, a missing
 * device is an error. */
int dml_call_open(dml_call *call);

/* The result, or the explanation; NULL with an exception set. */
PyObject *dml_call_run(dml_call *call);

/* Raises `status`, unless an exception is set; always NULL. */
PyObject *dml_call_fail(dml_call *call);

/* Releases all that the call holds. `leak`: the device may still be using the arrays, which are then never freed. */
void dml_call_release(dml_call *call, bool leak);

#endif
