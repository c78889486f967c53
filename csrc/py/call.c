#include "py/call.h"

#include <string.h>

#include "py/arrays.h"
#include "py/convert.h"
#include "py/device_array.h"
#include "py/device_cost.h"
#include "py/entries.h"
#include "py/errors.h"
#include "py/event_log.h"
#include "py/explain.h"
#include "py/gil.h"
#include "py/out.h"
#include "py/transfer.h"

int dml_call_begin(dml_call *call, PyObject *module, const dml_operator *op, int row, Py_ssize_t count)
{
    Py_ssize_t wanted = 4;
    memset(call, 0, offsetof(dml_call, args));
    memset(&call->one.output, 0, sizeof call->one.output);
    call->one.input = NULL;
    call->state = dml_state_of(module);
    call->counted_as = (dml_counted_as){.row = row};
    call->input_name = op->several ? "inputs[0]" : op->input;
    call->inputs = &call->one.input;
    call->outputs = &call->one.output;
    call->program = (dml_program){.op = op,
                                  .args = call->args,
                                  .input_count = 1,
                                  .result_count = 1,
                                  .inputs = &call->one.source,
                                  .results = &call->one.target};
    while (op->parameters[wanted - 4].name)
        wanted++;
    if (count == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", wanted, count);
    return -1;
}

/* --- arrays ------------------------------------------------------------------------------------------------------- */

/* Whether an input has a dtype that the others allow; or is what the program was compiled for. */
static int check_input(const dml_call *call, int64_t index)
{
    dml_operand_name name = dml_input_name(call, index);
    PyArray_Descr *first = dml_array_dtype(call->inputs[0]), *dtype = dml_array_dtype(call->inputs[index]);
    if (dml_dtype_check(dtype, name.text) < 0)
        return -1;
    if (call->compiled)
        return dml_compiled_check_input(call->compiled, index, call->inputs[index], name.text);
    if (!PyArray_EquivTypes(first, dtype)) {
        PyErr_Format(PyExc_TypeError, "%s must have the dtype %S of inputs[0], not %S", name.text, (PyObject *)first,
                     (PyObject *)dtype);
        return -1;
    }
    if (call->fill_dtype && !PyArray_EquivTypes((PyArray_Descr *)call->fill_dtype, dtype)) {
        PyErr_Format(PyExc_TypeError, "%s has changed its dtype from %S to %S", name.text, call->fill_dtype, (PyObject *)dtype);
        return -1;
    }
    return 0;
}

/* The dtype of a result. */
static PyArray_Descr *output_dtype(const dml_call *call, int64_t index)
{
    return call->compiled ? dml_compiled_dtype(call->compiled, index) : dml_array_dtype(call->inputs[0]);
}

int dml_call_describe(dml_call *call)
{
    for (int64_t k = 0; k < call->program.result_count; k++)
        if (call->outputs[k].out && dml_make_private(&call->outputs[k].out) < 0)
            return -1;
    for (int64_t k = 0; k < call->program.input_count; k++) {
        if (dml_make_private(&call->inputs[k]) < 0 || check_input(call, k) < 0) /* it may be another one by now */
            return -1;
        dml_array_describe(call->inputs[k], &call->program.inputs[k]);
    }
    if (call->program.op->fills && !call->fill) /* zeros */
        call->fill = PyObject_CallFunction((PyObject *)&PyBytes_Type, "n", (Py_ssize_t)call->program.inputs[0].item);
    if (call->program.op->fills && !call->fill)
        return -1;
    return call->entries_of ? dml_call_entries_describe(call) : 0;
}

/* Whether the program can write to `out` itself: it shares no memory with what is read. */
static bool is_apart(const dml_call *call, int64_t index)
{
    PyObject *out = call->outputs[index].out;
    for (int64_t k = 0; k < call->program.input_count; k++)
        if (dml_arrays_may_overlap(out, call->inputs[k]))
            return false;
    return !call->entries_of || !dml_arrays_may_overlap(out, call->entries_of);
}

static int open_output(dml_call *call, int64_t index)
{
    dml_output *output = &call->outputs[index];
    dml_tensor *target = &call->program.results[index];
    PyArray_Descr *dtype = output_dtype(call, index);
    if (output->out && is_apart(call, index)) {
        output->target = output->out;
        Py_INCREF(output->target);
    } else if (dml_call_on_device(call)) {
        const dml_allocation *beside = ((dml_device_array *)call->inputs[0])->allocation;
        output->target = dml_device_array_new(call->state, &call->device, beside, dtype, target);
    } else {
        output->target = dml_result_new(call->state, dtype, target);
    }
    if (!output->target)
        return -1;
    dml_array_describe(output->target, target);
    return 0;
}

/* Whether `out`, if given, can receive the result. */
static int check_output(const dml_call *call, int64_t index)
{
    PyObject *out = call->outputs[index].out;
    dml_operand_name name = dml_output_name(call, index);
    const char *like = call->compiled ? "the result" : call->input_name;
    return out ? dml_out_check(out, name.text, output_dtype(call, index), like, &call->program.results[index]) : 0;
}

/* Whether no two arrays of `out` share an element; none of them overlaps itself. */
static int check_apart(const dml_call *call)
{
    int64_t count = call->program.result_count, pair[2];
    if (count < 2 || !call->outputs[0].out)
        return 0;
    PyObject **outs = PyMem_Malloc((size_t)count * sizeof *outs);
    for (int64_t k = 0; outs && k < count; k++)
        outs[k] = call->outputs[k].out;
    if (!outs)
        PyErr_NoMemory();
    int overlaps = outs ? dml_arrays_overlap(outs, count, pair) : -1;
    PyMem_Free(outs);
    if (overlaps > 0)
        PyErr_Format(PyExc_ValueError, "out[%lld] must not share memory with out[%lld]", (long long)pair[1],
                     (long long)pair[0]);
    return overlaps ? -1 : 0;
}

int dml_call_open(dml_call *call)
{
    for (int64_t k = 0; k < call->program.result_count; k++)
        if (check_output(call, k) < 0)
            return -1;
    if (check_apart(call) < 0)
        return -1;
    for (int64_t k = 0; k < call->program.result_count && call->explained; k++)
        if (dml_shape_check(&call->program.results[k]) < 0)
            return -1;
    if (call->explained)
        return 0; /* no array is made: the targets keep the strides of C-contiguous ones */
    if ((!call->device_named && dml_device_default(call->state, &call->device) < 0) ||
        dml_device_by_cost(call->state, &call->program, &call->device) < 0)
        return -1;
    if (call->program.entries.wrong && !call->device.host && dml_indices_check(call) < 0)
        return -1;
    for (int64_t k = 0; k < call->program.result_count; k++)
        if (open_output(call, k) < 0)
            return -1;
    return 0;
}

static void free_unless(void *memory, const void *one)
{
    if (memory != one)
        PyMem_Free(memory);
}

void dml_call_release(dml_call *call, bool leak)
{
    for (int64_t k = 0; k < call->program.input_count && !leak; k++)
        Py_XDECREF(call->inputs[k]);
    for (int64_t k = 0; k < call->program.result_count && !leak; k++) {
        Py_XDECREF(call->outputs[k].caller);
        Py_XDECREF(call->outputs[k].out);
        Py_XDECREF(call->outputs[k].target);
    }
    if (!leak)
        Py_XDECREF(call->entries_of);
    free_unless(call->inputs, &call->one.input);
    free_unless(call->outputs, &call->one.output);
    free_unless(call->program.inputs, &call->one.source);
    free_unless(call->program.results, &call->one.target);
    PyMem_Free(call->program.parts);
    Py_XDECREF(call->fill);
    Py_XDECREF(call->fill_dtype);
    Py_XDECREF(call->recorder);
    Py_XDECREF(call->traced);
}

PyObject *dml_call_fail(dml_call *call)
{
    dml_raise(call->state, &call->status);
    dml_call_release(call, call->status.code && call->status.in_use);
    return NULL;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/* Copies those results that `out` does not have yet, one after the other. */
static dml_code copy_outputs(dml_call *call, const dml_backend *backend, const dml_operand *targets)
{
    dml_plan plan;
    dml_program program;
    for (int64_t k = 0; k < call->program.result_count; k++) {
        const dml_output *output = &call->outputs[k];
        if (!output->out || output->target == output->out)
            continue;
        dml_tensor tensor;
        dml_array_describe(output->out, &tensor);
        dml_copy_plan(&call->program.results[k], &tensor, &plan);
        dml_program_of_plan(&program, &plan);
        const dml_operand out = dml_array_operand(output->out);
        const dml_transfer copy = {.program = &program, .inputs = &targets[k], .results = &out};
        if (backend->run(call->device.index, &copy, &call->status))
            return call->status.code;
    }
    return DML_OK;
}

/* Runs the program, between operands that are in the order of inputs and outputs. */
static dml_code run_program(dml_call *call, const dml_operand *operands)
{
    const dml_backend *backend = dml_backend_of(&call->device);
    const dml_transfer transfer = {.program = &call->program,
                                   .inputs = operands,
                                   .results = operands + call->program.input_count,
                                   .fill = call->fill ? PyBytes_AsString(call->fill) : NULL,
                                   .entries = call->entries_of ? dml_array_operand(call->entries_of).allocation : NULL};
    dml_gil gil;
    bool indirect = false;
    for (int64_t k = 0; k < call->program.result_count; k++)
        indirect = indirect || (call->outputs[k].out && call->outputs[k].target != call->outputs[k].out);
    dml_gil_lend(&gil);
    dml_code code = call->progress.function
                        ? dml_progress_run(&call->progress, backend, call->device.index, &transfer, &call->status)
                        : backend->run(call->device.index, &transfer, &call->status);
    if (!code && indirect)
        code = copy_outputs(call, dml_call_on_device(call) ? backend : &dml_host_backend, transfer.results);
    dml_gil_reclaim(&gil);
    return code;
}

static PyObject *result_of(const dml_call *call, int64_t index)
{
    PyObject *result = call->outputs[index].caller ? call->outputs[index].caller : call->outputs[index].target;
    Py_INCREF(result);
    return result;
}

static PyObject *list_results(const dml_call *call)
{
    PyObject *list = PyList_New((Py_ssize_t)call->program.result_count);
    for (int64_t k = 0; list && k < call->program.result_count; k++)
        if (PyList_SetItem(list, (Py_ssize_t)k, result_of(call, k)) < 0)
            Py_CLEAR(list);
    return list;
}

PyObject *dml_call_run(dml_call *call)
{
    if (call->explained) {
        PyObject *explanation = dml_explain_program(&call->program, &call->traits, &call->device, call->inputs);
        dml_call_release(call, false);
        return explanation;
    }
    int64_t bytes = 0, count = call->program.input_count + call->program.result_count;
    for (int64_t k = 0; k < call->program.result_count; k++)
        bytes += dml_tensor_bytes(&call->program.results[k]);
    dml_operand few[2], *operands = count > 2 ? PyMem_Malloc((size_t)count * sizeof *operands) : few;
    for (int64_t k = 0; operands && k < count; k++)
        operands[k] = dml_array_operand(k < call->program.input_count ? call->inputs[k]
                                                                      : call->outputs[k - call->program.input_count].target);
    int failed = operands ? bytes > 0 && run_program(call, operands) : -1;
    if (!failed && call->wrong_index)
        failed = dml_indices_check(call);
    if (!operands)
        PyErr_NoMemory();
    if (operands != few)
        PyMem_Free(operands);
    dml_events_log();
    if (failed)
        return dml_call_fail(call);
    dml_call_count(call->counted_as, &call->device, bytes);
    PyObject *result = call->listed ? list_results(call) : result_of(call, 0);
    dml_call_release(call, false);
    return result;
}
