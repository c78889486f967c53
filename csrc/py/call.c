#include "py/call.h"

#include "core/host.h"
#include "py/arrays.h"
#include "py/errors.h"
#include "vk/vk.h"

int dml_call_begin(dml_call *call, PyObject *module, Py_ssize_t count, Py_ssize_t wanted)
{
    call->state = dml_state_of(module);
    call->input = call->out = call->into = NULL;
    call->lengths = NULL;
    call->status.code = DML_OK;
    if (count == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", wanted, count);
    return -1;
}

int dml_call_take(dml_call *call, PyObject *input, PyObject *out, PyObject *device)
{
    call->input = dml_array_from(input, "input");
    if (!call->input)
        return -1;
    if (out != Py_None && !PyArray_Check(out))
        return dml_type_error("out", "a numpy.ndarray or None", out);
    call->out = out == Py_None ? NULL : (PyArrayObject *)out;
    call->device_named = device != Py_None;
    return call->device_named ? dml_device_choose(call->state, device, &call->device) : 0;
}

void dml_call_describe(dml_call *call)
{
    dml_array_describe(call->input, &call->source);
}

int dml_call_open(dml_call *call)
{
    if (call->out && dml_out_check((PyObject *)call->out, call->input, &call->target) < 0)
        return -1;
    if (!call->device_named && dml_device_default(call->state, &call->device) < 0)
        return -1;
    if (call->out && !dml_arrays_meet(call->out, call->input)) {
        call->into = call->out;
        Py_INCREF((PyObject *)call->into);
    } else {
        call->into = dml_result_new(call->state, call->input, &call->target);
    }
    if (!call->into)
        return -1;
    dml_array_describe(call->into, &call->target);
    return 0;
}

static void release(dml_call *call)
{
    Py_XDECREF((PyObject *)call->input);
    Py_XDECREF((PyObject *)call->into);
    PyMem_Free(call->lengths);
}

PyObject *dml_call_fail(dml_call *call)
{
    if (!PyErr_Occurred())
        dml_raise(call->state, &call->status);
    /* Arrays that the device may still be writing to are never freed, or recycled as somebody else's. */
    if (call->status.code && call->status.in_use)
        call->input = call->into = NULL;
    release(call);
    return NULL;
}

/* Runs without the GIL. */
static dml_code run_on_device(dml_call *call, const void *src, void *dst)
{
    if (call->device.host) {
        dml_host_run(&call->plan, src, dst);
        return DML_OK;
    }
    dml_context *context;
    if (dml_vk_context(call->device.index, &context, &call->status))
        return call->status.code;
    return dml_vk_run(context, &call->plan, src, dst, &call->status);
}

/* Makes the plan that copies `into` to `out`. */
static void plan_copy_out(const dml_call *call, dml_plan *plan)
{
    dml_plan_begin(plan, call->target.item);
    for (int k = 0; k < call->target.rank; k++)
        dml_plan_add(plan, call->target.shape[k], call->target.strides[k], PyArray_STRIDE(call->out, k));
}

PyObject *dml_call_run(dml_call *call)
{
    bool detour = call->out && call->into != call->out;
    dml_plan copy;
    if (detour)
        plan_copy_out(call, &copy);
    const void *src = PyArray_DATA(call->input);
    void *dst = PyArray_DATA(call->into), *out = detour ? PyArray_DATA(call->out) : NULL;

    if (call->plan.item > 0 && dml_plan_count(&call->plan) > 0) {
        dml_code code;
        Py_BEGIN_ALLOW_THREADS code = run_on_device(call, src, dst);
        if (!code && detour)
            dml_host_run(&copy, dst, out);
        Py_END_ALLOW_THREADS if (code) return dml_call_fail(call);
    }
    PyObject *result = (PyObject *)(call->out ? call->out : call->into);
    Py_INCREF(result);
    release(call);
    return result;
}
