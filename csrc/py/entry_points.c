#include "py/entry_points.h"

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/call.h"
#include "py/convert.h"
#include "py/entries.h"
#include "py/resampling_capsule.h"
#include "py/result_memory.h"
#include "resampling/resize.h"

/* `blocks` is the argument that has an entry per spatial axis. */
static int layout_from(PyObject *object, const char *blocks, const dml_parameter *parameter, dml_ints *layout)
{
    static const char *const images[] = {"CHW", "HWC"};
    for (int k = 0; k < 2; k++)
        if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, images[k]) == 0) {
            PyErr_Format(PyExc_ValueError,
                         "layout must be \"NCHW\" or \"NHWC\", not %R; for an image without a batch axis pass layout=\"N%s\" "
                         "and a sequence of blocks, as %s=(2, 2)",
                         object, images[k], blocks);
            return -1;
        }
    return dml_enum_from(object, parameter->name, parameter->enumerators, layout->value);
}

/* The value that padding fills with. It runs the caller's code: dml_call_describe sees whether the dtype is still the same. */
static int fill_from(dml_call *call, PyObject *value)
{
    PyArray_Descr *dtype = dml_array_dtype(call->inputs[0]);
    Py_INCREF((PyObject *)dtype);
    call->fill_dtype = (PyObject *)dtype;
    if (PyTypeNum_ISNUMBER(dtype->type_num) && PyLong_CheckExact(value) && PyObject_Not(value))
        return 0; /* zeros, as of an operator without a value */
    call->fill = PyObject_CallFunctionObjArgs(call->state->item_of, value, call->fill_dtype, NULL);
    return call->fill ? 0 : -1;
}

/* An argument of the operator's own. */
static int convert(dml_call *call, const dml_parameter *parameter, PyObject *object, dml_ints *ints)
{
    const char *name = ints->name = parameter->name;
    ints->given = object != Py_None || !parameter->optional;
    if (!ints->given)
        return 0;
    switch (parameter->kind) {
    case DML_ARG_AXIS:
    case DML_ARG_INT:
        return dml_int_from(object, name, ints->value);
    case DML_ARG_INTS:
        return dml_ints_from(object, name, ints);
    case DML_ARG_INT_OR_INTS:
        return dml_int_or_ints_from(object, name, ints);
    case DML_ARG_PARTS:
        if (dml_int_list_from(object, name, &call->program.parts, &ints->count) < 0)
            return -1;
        return dml_call_list_outputs(call, ints->count);
    case DML_ARG_ENUM:
        return dml_enum_from(object, name, parameter->enumerators, ints->value);
    case DML_ARG_LAYOUT:
        return layout_from(object, call->program.args[0].name, parameter, ints);
    case DML_ARG_ITEM:
        return fill_from(call, object);
    case DML_ARG_LENGTHS:
    case DML_ARG_INDICES:
        break;
    }
    return dml_call_entries_convert(call, object);
}

/* The arguments in their order: from here on, until dml_call_describe, they may run the caller's code. */
static int convert_all(dml_call *call, PyObject *const *args, Py_ssize_t count)
{
    const dml_parameter *parameters = call->program.op->parameters;
    if (dml_call_convert_how(call, args[count - 1]) < 0 || dml_call_convert_inputs(call, args[0]) < 0)
        return -1;
    for (int k = 0; parameters[k].name; k++)
        if (convert(call, &parameters[k], args[1 + k], &call->args[k]) < 0)
            return -1;
    return dml_call_convert_outputs(call, args[count - 3]) < 0 ? -1 : dml_call_convert_device(call, args[count - 2]);
}

/* What the recorder makes of a call whose inputs are traced: it gets the operator's name, the inputs, and a tuple of the other
 * arguments. */
static PyObject *record(dml_call *call, const char *name, PyObject *const *args, Py_ssize_t count)
{
    PyObject *others = PyTuple_New(count - 1), *result = NULL;
    for (Py_ssize_t k = 1; others && k < count; k++) {
        Py_INCREF(args[k]);
        if (PyTuple_SetItem(others, k - 1, args[k]) < 0)
            Py_CLEAR(others); /* uncovered: a new tuple accepts every item */
    }
    if (others)
        result = PyObject_CallFunction(call->recorder, "sOO", name, call->traced, others);
    Py_XDECREF(others);
    dml_call_release(call, false);
    return result;
}

static PyObject *run(const dml_operator *op, int row, const char *name, PyObject *module, PyObject *const *args,
                     Py_ssize_t count)
{
    dml_call call;
    /* Lengths are checked before a device is looked for. */
    if (dml_call_begin(&call, module, op, row, count) < 0 || convert_all(&call, args, count) < 0 ||
        dml_call_describe(&call) < 0 || dml_operator_shape(&call.program, &call.status) || dml_call_entries_read(&call) < 0 ||
        dml_call_open(&call) < 0)
        return call.recorder ? record(&call, name, args, count) : dml_call_fail(&call);
    return dml_call_run(&call);
}

#define ENTRY_POINT(name)                                                                                                      \
    PyObject *dml_py_##name(PyObject *module, PyObject *const *args, Py_ssize_t count)                                         \
    {                                                                                                                          \
        return run(&dml_op_##name, DML_ROW_##name, #name, module, args, count);                                                \
    }
DML_OPERATORS(ENTRY_POINT)

/* --- resampling ------------------------------------------------------------------------------------------------------ */

/* The axis of the input that is resampled as rows, or as columns, and those of its outputs that the result has. */
static int resampled_axis(dml_call *call, dml_resize *resize, int axis, dml_ints *axes, const dml_ints *window)
{
    static const char *const names[] = {"rows", "columns"};
    dml_tensor *result = call->program.results;
    const dml_weights *weights = dml_resize_weights(resize, axis);
    int64_t *k = &axes->value[axis];
    if (dml_normalize_axis("axes", k, result->rank, &call->status))
        return -1;
    resize->axes[axis] = (int)*k;
    const int64_t inputs = call->program.inputs->shape[*k];
    if (weights && weights->inputs != inputs) {
        PyErr_Format(PyExc_ValueError, "%s must have %lld %s for this resampling, not %lld", call->input_name,
                     (long long)weights->inputs, names[axis], (long long)inputs);
        return -1;
    }
    const int64_t outputs = weights ? weights->outputs : inputs;
    const int64_t *range = window->value + (int64_t)2 * axis;
    const int64_t begin = window->given ? range[0] : 0, count = window->given ? range[1] : outputs;
    if (begin < 0 || count < 0 || begin > outputs || count > outputs - begin) {
        PyErr_Format(PyExc_ValueError, "window leaves the %lld %s", (long long)outputs, names[axis]);
        return -1;
    }
    resize->begin[axis] = begin;
    result->shape[*k] = count;
    return 0;
}

/* Gives the result its shape, and the program its steps. */
static int describe_resampling(dml_call *call, dml_resize *resize, dml_ints *axes, dml_ints *window)
{
    PyArray_Descr *dtype = dml_array_dtype(call->inputs[0]);
    if (dtype->type_num != NPY_UBYTE) {
        PyErr_Format(PyExc_TypeError, "%s must have the dtype uint8, not %S", call->input_name, (PyObject *)dtype);
        return -1;
    }
    dml_tensor_copy_shape(call->program.results, call->program.inputs);
    if (axes->count != 2 || (window->given && window->count != 4)) {
        PyErr_SetString(PyExc_ValueError, "axes must have 2 entries, and window 4");
        return -1;
    }
    for (int axis = 0; axis < 2; axis++)
        if (resampled_axis(call, resize, axis, axes, window) < 0)
            return -1;
    if (resize->axes[0] == resize->axes[1]) {
        PyErr_SetString(PyExc_ValueError, "axes must be two different ones");
        return -1;
    }
    dml_tensor_pack(call->program.results);
    dml_resize_describe(&call->program, resize);
    return 0;
}

/* As of an operator with these parameters, in the order that convert_all has. */
static int convert_resampling(dml_call *call, dml_resize *resize, PyObject *const *args, dml_ints *axes, dml_ints *window)
{
    window->given = args[3] != Py_None;
    if (dml_call_convert_how(call, args[6]) < 0 || dml_call_convert_inputs(call, args[0]) < 0)
        return -1;
    resize->resampling = dml_resampling_from(args[1]);
    if (!resize->resampling || dml_ints_from(args[2], "axes", axes) < 0 ||
        (window->given && dml_ints_from(args[3], "window", window) < 0))
        return -1;
    return dml_call_convert_outputs(call, args[4]) < 0 ? -1 : dml_call_convert_device(call, args[5]);
}

PyObject *dml_resample(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const dml_operator op = {.input = "input"};
    dml_call call;
    dml_ints axes, window;
    dml_resize resize = {.resampling = NULL};
    if (dml_memory_ready() < 0) /* the host's bands take some */
        return NULL;
    if (dml_call_begin(&call, module, &op, DML_ROW_RESAMPLE, count - 3) < 0 ||
        convert_resampling(&call, &resize, args, &axes, &window) < 0 || dml_call_describe(&call) < 0 ||
        describe_resampling(&call, &resize, &axes, &window) < 0 || dml_call_open(&call) < 0)
        return call.recorder ? record(&call, "resample", args, count) : dml_call_fail(&call);
    return dml_call_run(&call);
}

/* --- compiled programs ----------------------------------------------------------------------------------------------- */

/* Runs a compiled program as if it were an operator of several inputs. */
static int begin_compiled(dml_call *call, const dml_compiled_program *program, PyObject *selected, PyObject *const *args)
{
    const dml_compiled *compiled = &program->compiled;
    call->compiled = program;
    call->fill = program->constants;
    Py_INCREF(call->fill);
    const dml_selection *selections;
    if (dml_call_convert_how(call, args[3]) < 0 || dml_call_convert_inputs(call, args[0]) < 0 ||
        dml_compiled_selections(program, selected, &selections, &call->status) < 0)
        return -1;
    if (call->program.input_count != compiled->input_count) {
        PyErr_Format(PyExc_ValueError, "expected %lld inputs, got %lld", (long long)compiled->input_count,
                     (long long)call->program.input_count);
        return -1;
    }
    if (dml_call_list_outputs(call, compiled->result_count) < 0 || dml_call_convert_outputs(call, args[1]) < 0 ||
        dml_call_convert_device(call, args[2]) < 0 || dml_call_describe(call) < 0)
        return -1;
    dml_compiled_describe(compiled, selections, &call->program);
    return dml_call_open(call);
}

PyObject *dml_run_compiled(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const dml_operator op = {.input = "inputs", .several = true};
    dml_call call;
    const dml_compiled_program *program = count > 0 ? dml_compiled_from(args[0]) : NULL;
    if (!program)
        return count > 0 ? NULL : PyErr_Format(PyExc_TypeError, "expected 5 arguments, got none");
    if (dml_memory_ready() < 0) /* the host's stages take some */
        return NULL;
    PyObject *selected = count == 6 ? args[5] : Py_None;
    if (dml_call_begin(&call, module, &op, DML_ROW_PROGRAM, count == 6 ? 4 : count - 1) < 0 ||
        begin_compiled(&call, program, selected, args + 1) < 0)
        return dml_call_fail(&call);
    return dml_call_run(&call);
}
