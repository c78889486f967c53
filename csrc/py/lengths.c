#include "py/lengths.h"

#include <stdio.h>
#include <string.h>

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/device_array.h"
#include "py/errors.h"

static const char argument[] = "sequence_lengths";

/* An int beyond int64 becomes the nearest int64, which is clamped, or refused as negative, just the same. */
static int length_from(PyObject *object, const char *wanted, int64_t *value)
{
    if (!dml_is_int(object))
        return dml_type_error(argument, wanted, object);
    PyObject *number = PyNumber_Index(object);
    if (!number)
        return -1;
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow)
        *value = overflow > 0 ? INT64_MAX : INT64_MIN;
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

/* The values of an array of Python objects, which is stolen, as int64. */
static PyArrayObject *lengths_from_objects(PyArrayObject *objects)
{
    PyArrayObject *dense = (PyArrayObject *)PyArray_NewCopy(objects, NPY_CORDER); /* an __index__ may change the array */
    Py_DECREF((PyObject *)objects);
    if (!dense)
        return NULL;
    PyArrayObject *lengths = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(dense), PyArray_DIMS(dense), NPY_INT64);
    npy_intp count = PyArray_SIZE(dense);
    PyObject **from = PyArray_DATA(dense);
    const char *wanted =
        PyArray_NDIM(dense) == 0 ? "an array or list of ints" : "of ints"; /* a set or generator is one object */
    for (npy_intp k = 0; lengths && k < count; k++)
        if (length_from(from[k] ? from[k] : Py_None, wanted, (int64_t *)PyArray_DATA(lengths) + k) < 0)
            Py_CLEAR(lengths);
    Py_DECREF((PyObject *)dense);
    return lengths;
}

/* Entry by entry: NumPy makes floats of [2**63, 1] and ints of [True, 2]. */
static PyArrayObject *lengths_from_list(PyObject *list)
{
    PyObject *array = PyArray_FromAny(list, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    if (!array) {
        dml_no_array(argument, list);
        return NULL;
    }
    Py_DECREF(array);
    PyArray_Descr *object = PyArray_DescrFromType(NPY_OBJECT);
    array = PyArray_FromAny(list, object, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    return array ? lengths_from_objects((PyArrayObject *)array) : NULL;
}

/* The values of an array, which is stolen, of a type that NumPy does not list as an integer, as the int4 of ml_dtypes. */
static PyArrayObject *lengths_from_others(PyArrayObject *array, PyObject *object)
{
    PyArray_Descr *descr = PyArray_DESCR(array);
    bool empty_sequence = !PyArray_Check(object) && PyArray_SIZE(array) == 0; /* NumPy calls it float64 */
    PyObject *lengths = NULL;
    if (empty_sequence || dml_dtype_is_integer(descr))
        lengths = PyArray_FromArray(array, PyArray_DescrFromType(NPY_INT64), NPY_ARRAY_FORCECAST);
    else
        PyErr_Format(PyExc_TypeError, "%s must be of an integer dtype, not %S", argument, (PyObject *)descr);
    Py_DECREF((PyObject *)array);
    return (PyArrayObject *)lengths;
}

static PyArrayObject *lengths_from(PyObject *object)
{
    if (PyList_Check(object) || PyTuple_Check(object))
        return lengths_from_list(object);
    PyArrayObject *array = dml_array_any(object, NULL, argument);
    if (!array || PyArray_ISINTEGER(array))
        return array;
    if (PyArray_TYPE(array) == NPY_OBJECT)
        return lengths_from_objects(array);
    return lengths_from_others(array, object);
}

/* "sequence_lengths[1, 0] is -3" for the entry at `flat` in C order. */
static void negative_length(PyArrayObject *lengths, npy_intp flat, int64_t value)
{
    npy_intp index[DML_MAX_RANK];
    int rank = PyArray_NDIM(lengths);
    for (int k = rank - 1; k >= 0; k--) {
        index[k] = flat % PyArray_DIM(lengths, k);
        flat /= PyArray_DIM(lengths, k);
    }
    char where[DML_MAX_RANK * 22 + 1] = "";
    int at = 0;
    for (int k = 0; k < rank; k++)
        at += snprintf(where + at, sizeof where - (size_t)at, k ? ", %lld" : "%lld", (long long)index[k]);
    PyErr_Format(PyExc_ValueError, "%s[%s] is %lld%s; a length must be 0 or more", argument, where, (long long)value,
                 value == INT64_MIN ? " or less" : "");
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
static int64_t *lengths_clamp(PyArrayObject *lengths, int64_t extent)
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
        negative_length(lengths, negative, values[negative]);
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
    call->lengths_of = device ? object : (PyObject *)lengths_from(object);
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
    if (!call->lengths_of || PyArray_Check(call->lengths_of) == device)
        return 0;
    int64_t extent = call->program.most_length;
    if (!device) {
        call->program.lengths = call->lengths = lengths_clamp((PyArrayObject *)call->lengths_of, extent);
        return call->lengths ? 0 : -1;
    }
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = gather_on_device(call, (dml_device_array *)call->lengths_of, extent);
    Py_END_ALLOW_THREADS;
    return code ? -1 : 0;
}
