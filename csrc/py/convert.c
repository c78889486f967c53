#include "py/convert.h"

#include <string.h>

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/device_array.h"
#include "py/errors.h"
#include "py/explain.h"

static dml_operand_name name_of(const char *name, bool several, int64_t index)
{
    dml_operand_name full;
    if (several)
        PyOS_snprintf(full.text, sizeof full.text, "%s[%lld]", name, (long long)index);
    else
        memcpy(full.text, name, strlen(name) + 1);
    return full;
}

dml_operand_name dml_input_name(const dml_call *call, int64_t index)
{
    return name_of(call->program.op->input, call->program.op->several, index);
}

dml_operand_name dml_output_name(const dml_call *call, int64_t index)
{
    return name_of("out", call->listed, index);
}

bool dml_call_on_device(const dml_call *call)
{
    return dml_is_device_array(call->state, call->inputs[0]);
}

static const dml_choice *device_of(PyObject *device_array)
{
    return &((dml_device_array *)device_array)->device;
}

/* Of an array that is of the same kind as the first input. */
static int check_same_device(const dml_call *call, PyObject *array, const char *name)
{
    if (!dml_call_on_device(call) || dml_same_device(device_of(array), device_of(call->inputs[0])))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be on the device that %s is on", name, call->input_name);
    return -1;
}

/* Whether operators do not run on such arrays, but are recorded: their type has a function `__dmlops_function__`. */
static bool find_recorder(dml_call *call, PyObject *input)
{
    static const char name[] = "__dmlops_function__";
    PyObject *type = (PyObject *)Py_TYPE(input);
    if (PyObject_HasAttrString(type, name) && !call->recorder)
        call->recorder = PyObject_GetAttrString(type, name);
    return call->recorder != NULL;
}

static int convert_input(dml_call *call, const char *name, PyObject *input, PyObject **converted)
{
    if (call->explained) {
        *converted = dml_array_described(input, name);
        return *converted ? 0 : -1;
    }
    if (PyUnicode_CheckExact(input)) {
        dml_not_plain(name, input);
        return -1;
    }
    bool device = dml_is_device_array(call->state, input);
    if (!device && !PyArray_CheckExact(input) && find_recorder(call, input))
        return -1;
    if (!device && !PyArray_Check(input) && dml_refuse_lazy(name, input))
        return -1;
    if (device)
        Py_INCREF(input);
    *converted = device ? input : (PyObject *)dml_array_from(input, NULL, name);
    return *converted ? 0 : -1;
}

/* Nothing is moved between the host and a device unless asked for. */
static int convert_output(dml_call *call, int64_t index, PyObject *out)
{
    const dml_operand_name name = dml_output_name(call, index);
    if (dml_call_on_device(call) ? !dml_is_device_array(call->state, out) : !PyArray_Check(out)) {
        char wanted[96] = "a numpy.ndarray or None";
        if (dml_call_on_device(call))
            PyOS_snprintf(wanted, sizeof wanted, "a dmlops.DeviceArray, as %s is, or None", call->input_name);
        return dml_type_error(name.text, wanted, out);
    }
    if (check_same_device(call, out, name.text) < 0)
        return -1;
    Py_INCREF(out);
    Py_INCREF(out);
    call->outputs[index].caller = call->outputs[index].out = out;
    return 0;
}

int dml_call_convert_how(dml_call *call, PyObject *how)
{
    if (how == Py_None)
        return 0;
    if (PyLong_CheckExact(how))
        return dml_counted_as_from(how, &call->counted_as);
    call->explained = PyUnicode_Check(how);
    if (call->explained)
        return 0;
    PyObject *number = dml_progress_from(how, &call->progress);
    return number ? dml_counted_as_from(number, &call->counted_as) : -1;
}

int dml_call_convert_device(dml_call *call, PyObject *device)
{
    if (call->explained)
        return dml_explain_traits(call->state, device, &call->traits, &call->device, &call->status);
    bool choose = device != Py_None;
    call->device_named = choose || dml_call_on_device(call);
    if (choose && dml_device_named(call->state, device, &call->device) < 0)
        return -1;
    if (!dml_call_on_device(call))
        return 0;
    const dml_choice *own = device_of(call->inputs[0]);
    if (choose && !call->device.automatic && !dml_same_device(&call->device, own)) {
        PyErr_Format(PyExc_ValueError, "device must be the one that %s is on", call->input_name);
        return -1;
    }
    call->device = *own;
    return 0;
}

/* A new tuple of a sequence that is no array. */
static PyObject *tuple_from(const dml_call *call, PyObject *object, const char *name, const char *wanted)
{
    bool refused = PyArray_Check(object) || dml_is_device_array(call->state, object);
    if (!refused)
        return dml_tuple_from(object, name, wanted);
    dml_type_error(name, wanted, object);
    return NULL;
}

static int convert_sequence(dml_call *call, PyObject *inputs)
{
    dml_program *program = &call->program;
    PyObject *tuple = tuple_from(call, inputs, "inputs", "a sequence of arrays");
    int64_t count = tuple ? PyTuple_Size(tuple) : 0;
    program->input_count = 0;
    call->inputs = dml_zeroed(count, sizeof *call->inputs);
    program->inputs = dml_zeroed(count, sizeof *program->inputs);
    program->parts = dml_zeroed(count, sizeof *program->parts);
    if (tuple && count == 0)
        PyErr_SetString(PyExc_ValueError, "inputs must not be empty: there is nothing to join");
    int failed = count > 0 && call->inputs && program->inputs && program->parts ? 0 : -1;
    for (int64_t k = 0; k < count && !failed; k++) {
        dml_operand_name name = dml_input_name(call, k);
        program->input_count = k + 1;
        failed = convert_input(call, name.text, PyTuple_GetItem(tuple, k), &call->inputs[k]);
        if (!failed && dml_is_device_array(call->state, call->inputs[k]) != dml_call_on_device(call)) {
            PyErr_Format(PyExc_TypeError, "%s must %sbe a dmlops.DeviceArray, as inputs[0] is%s", name.text,
                         dml_call_on_device(call) ? "" : "not ", dml_call_on_device(call) ? "" : " none");
            failed = -1;
        }
        failed = failed || check_same_device(call, call->inputs[k], name.text) < 0 ? -1 : 0;
    }
    if (call->recorder)
        call->traced = tuple;
    else
        Py_XDECREF(tuple);
    return failed;
}

int dml_call_convert_inputs(dml_call *call, PyObject *input)
{
    if (call->program.op->several)
        return convert_sequence(call, input);
    int failed = convert_input(call, call->input_name, input, &call->inputs[0]);
    if (call->recorder) {
        Py_INCREF(input);
        call->traced = input;
    }
    return failed;
}

int dml_call_list_outputs(dml_call *call, int64_t count)
{
    call->listed = true;
    call->program.result_count = 0;
    call->outputs = dml_zeroed(count, sizeof *call->outputs);
    call->program.results = dml_zeroed(count, sizeof *call->program.results);
    if (!call->outputs || !call->program.results)
        return -1;
    call->program.result_count = count;
    return 0;
}

int dml_call_convert_outputs(dml_call *call, PyObject *out)
{
    if (out == Py_None || !call->listed)
        return out == Py_None ? 0 : convert_output(call, 0, out);
    int64_t count = call->program.result_count;
    PyObject *tuple = tuple_from(call, out, "out", "a list of arrays or None");
    int failed = tuple ? 0 : -1;
    if (tuple && PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_ValueError, "out must have one array per result: %lld, got %zd", (long long)count,
                     PyTuple_Size(tuple));
        failed = -1;
    }
    for (int64_t k = 0; k < count && !failed; k++)
        failed = convert_output(call, k, PyTuple_GetItem(tuple, k));
    Py_XDECREF(tuple);
    return failed;
}
