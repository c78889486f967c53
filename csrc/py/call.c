#include "py/call.h"

#include "py/arrays.h"
#include "py/device_array.h"
#include "py/errors.h"
#include "py/explain.h"
#include "py/out.h"
#include "py/transfer.h"

int dml_call_begin(dml_call *call, PyObject *module, Py_ssize_t count, Py_ssize_t wanted)
{
    call->state = dml_state_of(module);
    call->input = call->caller_out = call->out = call->target_array = NULL;
    call->lengths = NULL;
    call->device_lengths = NULL;
    call->status.code = DML_OK;
    if (count == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", wanted, count);
    return -1;
}

/* Nothing is moved between the host and a device unless asked for. */
static int check_out(const dml_call *call, PyObject *out)
{
    bool device = dml_is_device_array(call->state, call->input);
    if (device ? !dml_is_device_array(call->state, out) : !PyArray_Check(out))
        return dml_type_error("out", device ? "a dmlops.DeviceArray, as input is, or None" : "a numpy.ndarray or None", out);
    if (!device || dml_same_device(&((dml_device_array *)out)->device, &((dml_device_array *)call->input)->device))
        return 0;
    PyErr_SetString(PyExc_ValueError, "out must be on the device that input is on");
    return -1;
}

int dml_call_convert(dml_call *call, PyObject *input, PyObject *out, PyObject *device)
{
    bool on_device = dml_is_device_array(call->state, input);
    if (PyUnicode_CheckExact(input)) {
        PyErr_SetString(PyExc_TypeError, "input must be an array, not str; " DML_READ_A_FILE);
        return -1;
    }
    if (on_device)
        Py_INCREF(input);
    call->input = on_device ? input : (PyObject *)dml_array_from(input, NULL, "input");
    if (!call->input || (out != Py_None && check_out(call, out) < 0))
        return -1;
    if (out != Py_None) {
        Py_INCREF(out);
        call->caller_out = call->out = out;
    }
    call->device_named = device != Py_None || on_device;
    call->explained = PyCapsule_IsValid(device, DML_TRAITS_NAME) ? PyCapsule_GetPointer(device, DML_TRAITS_NAME) : NULL;
    bool choose = device != Py_None && !call->explained;
    if (choose && dml_device_choose(call->state, device, &call->device) < 0)
        return -1;
    if (!on_device)
        return 0;
    const dml_choice *own = &((dml_device_array *)input)->device;
    if (choose && !dml_same_device(&call->device, own)) {
        PyErr_SetString(PyExc_ValueError, "device must be the one that input is on");
        return -1;
    }
    call->device = *own;
    return 0;
}

int dml_call_describe(dml_call *call)
{
    if (dml_make_private(&call->input) < 0 || (call->out && dml_make_private(&call->out) < 0) ||
        dml_dtype_check(dml_array_dtype(call->input), "input") < 0) /* once more: it may be another one by now */
        return -1;
    dml_array_describe(call->input, &call->source);
    return 0;
}

int dml_call_open(dml_call *call)
{
    PyArray_Descr *dtype = dml_array_dtype(call->input);
    if (call->out && dml_out_check(call->out, dtype, &call->target) < 0)
        return -1;
    if (call->explained)
        return 0; /* no array is made: the target keeps the strides of a C-contiguous one */
    if (!call->device_named && dml_device_default(call->state, &call->device) < 0)
        return -1;
    if (call->out && !dml_arrays_may_overlap(call->out, call->input)) {
        call->target_array = call->out;
        Py_INCREF(call->target_array);
    } else if (dml_is_device_array(call->state, call->input)) {
        const dml_allocation *beside = ((dml_device_array *)call->input)->allocation;
        call->target_array = dml_device_array_new(call->state, &call->device, beside, dtype, &call->target);
    } else {
        call->target_array = dml_result_new(call->state, dtype, &call->target);
    }
    if (!call->target_array)
        return -1;
    dml_array_describe(call->target_array, &call->target);
    return 0;
}

static void release(dml_call *call)
{
    Py_XDECREF(call->input);
    Py_XDECREF(call->out);
    Py_XDECREF(call->target_array);
    PyMem_Free(call->lengths);
    dml_allocation_release(call->device_lengths);
}

PyObject *dml_call_fail(dml_call *call)
{
    dml_raise(call->state, &call->status);
    /* Arrays that the device may still be writing to are never freed. */
    if (call->status.code && call->status.in_use) {
        call->input = call->out = call->target_array = NULL;
        call->device_lengths = NULL;
    }
    release(call);
    return NULL;
}

/* Runs the plan, and where `out` overlaps `input` the copy from `target_array` to `out`. */
static dml_code run_plans(dml_call *call)
{
    const dml_backend *backend = dml_backend_of(&call->device);
    const dml_transfer transfer = {&call->plan, dml_array_operand(call->input), dml_array_operand(call->target_array),
                                   call->device_lengths};
    bool queued = transfer.src.allocation && transfer.dst.allocation, indirect = call->out && call->target_array != call->out;
    dml_plan copy_plan;
    dml_transfer copy;
    if (indirect) {
        dml_tensor tensor;
        dml_array_describe(call->out, &tensor);
        dml_copy_plan(&call->target, &tensor, &copy_plan);
        copy = (dml_transfer){.plan = &copy_plan, .src = transfer.dst, .dst = dml_array_operand(call->out)};
    }
    /* Queueing takes microseconds, and handing over the GIL costs more, so it is kept unless something must be waited for. */
    dml_code code = DML_WOULD_WAIT;
    if (queued && !indirect)
        code = backend->run(call->device.index, &transfer, false, &call->status);
    if (code != DML_WOULD_WAIT)
        return code;
    Py_BEGIN_ALLOW_THREADS;
    code = backend->run(call->device.index, &transfer, true, &call->status);
    if (!code && indirect)
        code = (queued ? backend : &dml_host_backend)->run(call->device.index, &copy, true, &call->status);
    Py_END_ALLOW_THREADS;
    return code;
}

PyObject *dml_call_run(dml_call *call)
{
    if (call->explained) {
        PyObject *explanation = dml_explain_plan(&call->plan, call->explained);
        release(call);
        return explanation;
    }
    if (call->plan.item > 0 && dml_plan_count(&call->plan) > 0 && run_plans(call))
        return dml_call_fail(call);
    PyObject *result = call->caller_out ? call->caller_out : call->target_array;
    Py_INCREF(result);
    release(call);
    return result;
}
