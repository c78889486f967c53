#include "py/entries.h"

#include <string.h>

#include "host/host_gather.h"
#include "py/arrays.h"
#include "py/device_array.h"
#include "py/errors.h"

enum { MUCH = 32 * 1024 }; /* indices, which take long to check */

/* An array of lengths. NumPy alone would make floats of [2**63, 1] and ints of [True, 2]. */
static PyArrayObject *lengths_from(const dml_state *state, PyObject *object, const char *name)
{
    PyArrayObject *array = NULL;
    if (!PyList_Check(object) && !PyTuple_Check(object)) {
        array = dml_array_any(object, NULL, name);
        if (!array || PyArray_ISINTEGER(array))
            return array;
    }
    PyObject *lengths = PyObject_CallFunctionObjArgs(state->lengths_of, object, array ? (PyObject *)array : Py_None, NULL);
    Py_XDECREF((PyObject *)array);
    return (PyArrayObject *)lengths;
}

static int check_integers(const PyArray_Descr *dtype, const char *name)
{
    if (PyTypeNum_ISINTEGER(dtype->type_num))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s must be of one of NumPy's integer dtypes, not %S", name, (PyObject *)dtype);
    return -1;
}

static int check_on_device(const dml_call *call, PyObject *object, const char *name)
{
    const dml_device_array *lengths = (dml_device_array *)object, *input = (dml_device_array *)call->inputs[0];
    if (!dml_is_device_array(call->state, call->inputs[0]))
        PyErr_Format(PyExc_TypeError, "%s must not be a dmlops.DeviceArray unless input is one", name);
    else if (!dml_same_device(&lengths->device, &input->device))
        PyErr_Format(PyExc_ValueError, "%s must be on the device that input is on", name);
    else if (!PyTypeNum_ISINTEGER(lengths->dtype->type_num))
        PyErr_Format(PyExc_TypeError, "%s on a device must be of one of NumPy's integer dtypes, not %S", name,
                     (PyObject *)lengths->dtype);
    else
        return 0;
    return -1;
}

static bool are_indices(const dml_call *call)
{
    return call->program.op->parameters[0].kind == DML_ARG_INDICES;
}

int dml_call_entries_convert(dml_call *call, PyObject *object)
{
    const char *name = call->args[0].name;
    bool device = dml_is_device_array(call->state, object);
    if (device && check_on_device(call, object, name) < 0)
        return -1;
    if (!device && are_indices(call) && !PyArray_Check(object))
        return dml_type_error(name, "a numpy.ndarray or a dmlops.DeviceArray", object);
    if (device || are_indices(call)) {
        Py_INCREF(object);
        call->entries_of = object;
    } else {
        call->entries_of = (PyObject *)lengths_from(call->state, object, name);
    }
    return call->entries_of ? 0 : -1;
}

int dml_call_entries_describe(dml_call *call)
{
    dml_tensor tensor;
    if (dml_make_private(&call->entries_of) < 0 ||
        (are_indices(call) && check_integers(dml_array_dtype(call->entries_of), call->args[0].name) < 0))
        return -1;
    dml_array_describe(call->entries_of, &tensor);
    call->args[0].count = tensor.rank;
    memcpy(call->args[0].value, tensor.shape, sizeof tensor.shape);
    return 0;
}

/* The index of the first negative one in a dense array, or -1. */
static npy_intp find_negative(const dml_entries *lengths, npy_intp count)
{
    const signed char *top = (const signed char *)lengths->data + (lengths->swapped ? 0 : lengths->item - 1);
    int signs = 0;
    for (npy_intp k = 0; k < count && lengths->is_signed; k++)
        signs |= top[k * lengths->item];
    npy_intp first = 0;
    while (signs < 0 && top[first * lengths->item] >= 0)
        first++;
    return signs < 0 ? first : -1;
}

/* Copies integers of 1, 2, 4 or 8 bytes, each at once. */
static void copy_integers(void *to, const void *from, npy_intp count, int64_t item)
{
    for (npy_intp k = 0; k < count; k++) {
        if (item == 8)
            ((int64_t *)to)[k] = ((const volatile int64_t *)from)[k];
        else if (item == 4)
            ((int32_t *)to)[k] = ((const volatile int32_t *)from)[k];
        else if (item == 2)
            ((int16_t *)to)[k] = ((const volatile int16_t *)from)[k];
        else
            ((int8_t *)to)[k] = ((const volatile int8_t *)from)[k];
    }
}

/* A copy in C order, since other threads may write to the caller's array meanwhile. NumPy copies what is contiguous by memcpy,
 * which may read the bytes of one length before such a write and behind it. Indices that are in C order stay where they are:
 * they are clamped wherever they are read, so that such a write does no harm. */
static int pack(dml_call *call)
{
    PyArrayObject *from = (PyArrayObject *)call->entries_of;
    const bool dense = PyArray_IS_C_CONTIGUOUS(from) && PyArray_ISALIGNED(from);
    if (are_indices(call) && PyArray_IS_C_CONTIGUOUS(from))
        return 0;
    PyObject *copy = dense ? PyArray_NewLikeArray(from, NPY_CORDER, NULL, 0) : PyArray_NewCopy(from, NPY_CORDER);
    if (!copy)
        return -1;
    if (dense)
        copy_integers(PyArray_DATA((PyArrayObject *)copy), PyArray_DATA(from), PyArray_SIZE(from),
                      (int64_t)PyDataType_ELSIZE(dml_array_dtype(call->entries_of)));
    Py_DECREF(call->entries_of);
    call->entries_of = copy;
    return 0;
}

static int check_signs(const dml_call *call)
{
    npy_intp negative = find_negative(&call->program.entries, PyArray_SIZE((PyArrayObject *)call->entries_of));
    if (negative < 0)
        return 0;
    PyObject *none = PyObject_CallFunction(call->state->negative_length, "On", call->entries_of, negative);
    Py_XDECREF(none); /* it raises */
    return -1;
}

/* Those of axis k are every `gathered`-th one from the k-th on. */
int dml_indices_check(const dml_call *call)
{
    dml_step step;
    dml_program_step(&call->program, 0, &step);
    const dml_entries *entries = &call->program.entries;
    const int64_t gathered = step.plan.gathered, size = PyArray_SIZE((PyArrayObject *)call->entries_of), item = entries->item;
    int64_t wrong = INT64_MAX, axis = 0;
    PyThreadState *thread = size > MUCH ? PyEval_SaveThread() : NULL;
    for (int64_t k = 0; k < gathered; k++) {
        const int64_t extent = step.plan.gathers[k].extent;
        int64_t first = dml_entries_find_wrong(entries, k * item, gathered * item, size / gathered, extent);
        if (first < 0 || first * gathered + k > wrong)
            continue;
        wrong = first * gathered + k;
        axis = k;
    }
    if (thread)
        PyEval_RestoreThread(thread);
    if (wrong == INT64_MAX)
        return 0;
    PyObject *none = PyObject_CallFunction(call->state->wrong_index, "OLL", call->entries_of, (long long)wrong,
                                           (long long)step.plan.gathers[axis].extent);
    Py_XDECREF(none); /* it raises */
    return -1;
}

/* Whether kernels of the host may find indices that are out of range: a result that is none then has been seen by nobody. */
static bool is_checked_later(const dml_call *call)
{
    return (call->device_named ? call->device.host : dml_device_default_may_be_host()) && !call->outputs->caller &&
           !call->progress.function && dml_tensor_bytes(call->program.results) > 0;
}

int dml_call_entries_read(dml_call *call)
{
    if (!call->entries_of)
        return 0;
    const bool device = !PyArray_Check(call->entries_of), seen = !device && !call->explained;
    if (seen && pack(call) < 0)
        return -1;
    const dml_operand operand = dml_array_operand(call->entries_of);
    const PyArray_Descr *dtype = dml_array_dtype(call->entries_of);
    call->program.entries = (dml_entries){.data = call->explained ? NULL : operand.data,
                                          .offset = (int64_t)operand.offset,
                                          .item = (int64_t)PyDataType_ELSIZE(dtype),
                                          .is_signed = PyTypeNum_ISSIGNED(dtype->type_num),
                                          .swapped = dtype->byteorder == NPY_OPPBYTE};
    if (device)
        call->program.entry_strides = ((dml_device_array *)call->entries_of)->tensor.strides;
    if (!seen)
        return 0;
    if (!are_indices(call))
        return check_signs(call);
    if (!is_checked_later(call))
        return dml_indices_check(call);
    call->program.entries.wrong = &call->wrong_index;
    return 0;
}
