#include "py/lengths.h"

#include <string.h>

#include "py/arrays.h"
#include "py/device_array.h"

static const char argument[] = "sequence_lengths";

/* An array of integers. NumPy alone would make floats of [2**63, 1] and ints of [True, 2]. */
static PyArrayObject *lengths_from(const dml_state *state, PyObject *object)
{
    PyArrayObject *array = NULL;
    if (!PyList_Check(object) && !PyTuple_Check(object)) {
        array = dml_array_any(object, NULL, argument);
        if (!array || PyArray_ISINTEGER(array))
            return array;
    }
    PyObject *lengths = PyObject_CallFunctionObjArgs(state->lengths_of, object, array ? (PyObject *)array : Py_None, NULL);
    Py_XDECREF((PyObject *)array);
    return (PyArrayObject *)lengths;
}

/* Clamps all but negative lengths. Returns the index of the first negative one, or -1. */
static npy_intp clamp_signed(int64_t *lengths, npy_intp count, int64_t extent)
{
    int64_t signs = 0;
    for (npy_intp k = 0; k < count; k++) {
        signs |= lengths[k];
        lengths[k] = lengths[k] < extent ? lengths[k] : extent;
    }
    npy_intp first = 0;
    while (signs < 0 && lengths[first] >= 0)
        first++;
    return signs < 0 ? first : -1;
}

static void clamp_unsigned(int64_t *lengths, npy_intp count, int64_t extent)
{
    for (npy_intp k = 0; k < count; k++)
        lengths[k] = (uint64_t)lengths[k] < (uint64_t)extent ? lengths[k] : extent;
}

/* Checks and clamps a copy, since other threads may write to the caller's array meanwhile. To be freed by PyMem_Free; NULL
 * with an exception set. */
static int64_t *lengths_clamp(const dml_state *state, PyArrayObject *lengths, int64_t extent)
{
    bool wide = PyArray_ISUNSIGNED(lengths) && PyArray_ITEMSIZE(lengths) == 8;
    PyArrayObject *dense =
        (PyArrayObject *)PyArray_FromArray(lengths, PyArray_DescrFromType(wide ? NPY_UINT64 : NPY_INT64), NPY_ARRAY_CARRAY_RO);
    if (!dense)
        return NULL;
    npy_intp count = PyArray_SIZE(dense), negative = -1;
    int64_t *values = PyMem_Malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
    if (values)
        memcpy(values, PyArray_DATA(dense), (size_t)count * sizeof *values);
    else
        PyErr_NoMemory();
    if (values && wide)
        clamp_unsigned(values, count, extent);
    else if (values)
        negative = clamp_signed(values, count, extent);
    if (negative >= 0) {
        PyObject *none = PyObject_CallFunction(state->negative_length, "OnL", lengths, negative, (long long)values[negative]);
        Py_XDECREF(none); /* it raises */
        PyMem_Free(values);
        values = NULL;
    }
    Py_DECREF((PyObject *)dense);
    return values;
}

/* --- lengths on a device ---------------------------------------------------------------------------------------- */

static int check_on_device(const dml_call *call, PyObject *object)
{
    const dml_device_array *lengths = (dml_device_array *)object, *input = (dml_device_array *)call->inputs[0];
    if (!dml_is_device_array(call->state, call->inputs[0]))
        PyErr_Format(PyExc_TypeError, "%s must not be a dmlops.DeviceArray unless input is one", argument);
    else if (!dml_same_device(&lengths->device, &input->device))
        PyErr_Format(PyExc_ValueError, "%s must be on the device that input is on", argument);
    else if (!PyTypeNum_ISINTEGER(lengths->dtype->type_num))
        PyErr_Format(PyExc_TypeError, "%s on a device must be of one of NumPy's integer dtypes, not %S", argument,
                     (PyObject *)lengths->dtype);
    else
        return 0;
    return -1;
}

int dml_lengths_convert(dml_call *call, PyObject *object)
{
    bool device = dml_is_device_array(call->state, object);
    if (device && check_on_device(call, object) < 0)
        return -1;
    if (device)
        Py_INCREF(object);
    call->lengths_of = device ? object : (PyObject *)lengths_from(call->state, object);
    return call->lengths_of ? 0 : -1;
}

int dml_lengths_describe(dml_call *call)
{
    dml_tensor tensor;
    if (dml_make_private(&call->lengths_of) < 0)
        return -1;
    dml_array_describe(call->lengths_of, &tensor);
    call->args[0].count = tensor.rank;
    memcpy(call->args[0].value, tensor.shape, sizeof tensor.shape);
    return 0;
}

/* The plan that copies each integer to the low bytes of 8, in native byte order. The other bytes stay undefined. */
static void plan_widen(const dml_tensor *tensor, bool swapped, dml_plan *plan)
{
    int item = (int)tensor->item;
    dml_plan_begin(plan, swapped ? 1 : item);
    int64_t stride = 8;
    for (int k = tensor->rank - 1; k >= 0; k--) {
        dml_plan_add(plan, tensor->shape[k], tensor->strides[k], stride);
        stride *= tensor->shape[k];
    }
    if (swapped) {
        plan->src_offset = item - 1;
        dml_plan_add(plan, item, -1, 1);
    }
}

static dml_code gather_on_device(dml_call *call, const dml_device_array *lengths, int64_t extent)
{
    int64_t count = dml_tensor_count(&lengths->tensor);
    if (count == 0)
        return DML_OK;
    const dml_backend *backend = dml_backend_of(&call->device);
    if (backend->allocate(call->device.index, NULL, (uint64_t)count * 8, &call->device_lengths, &call->status))
        return call->status.code;
    dml_plan plan;
    plan_widen(&lengths->tensor, lengths->dtype->byteorder == NPY_OPPBYTE, &plan);
    dml_program program;
    dml_program_of_plan(&program, &plan);
    const dml_operand from = dml_device_array_operand((PyObject *)lengths), to = backend->map(call->device_lengths, 0);
    const dml_transfer gather = {.program = &program, .inputs = &from, .results = &to};
    const dml_clamp clamp = {.lengths = call->device_lengths,
                             .count = count,
                             .item = (int)lengths->tensor.item,
                             .is_signed = PyTypeNum_ISSIGNED(lengths->dtype->type_num),
                             .extent = extent};
    if (backend->run(call->device.index, &gather, true, &call->status))
        return call->status.code;
    return backend->clamp_lengths(&clamp, &call->status);
}

int dml_lengths_gather(dml_call *call, bool device)
{
    if (!call->lengths_of || call->explained || PyArray_Check(call->lengths_of) == device)
        return 0;
    int64_t extent = call->program.most_length;
    if (!device) {
        call->program.lengths = call->lengths = lengths_clamp(call->state, (PyArrayObject *)call->lengths_of, extent);
        return call->lengths ? 0 : -1;
    }
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = gather_on_device(call, (dml_device_array *)call->lengths_of, extent);
    Py_END_ALLOW_THREADS;
    return code ? -1 : 0;
}
