#include "py/transfer.h"

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/call_counts.h"
#include "py/device_choice.h"
#include "py/errors.h"
#include "py/event_log.h"
#include "py/gil.h"
#include "py/out.h"

void dml_endpoint_init(dml_endpoint *endpoint, PyObject *array)
{
    endpoint->owner = array;
    endpoint->device = PyArray_Check(array) ? dml_host : ((dml_device_array *)array)->device;
    endpoint->operand = dml_array_operand(array);
    dml_array_describe(array, &endpoint->tensor);
}

void dml_copy_plan(const dml_tensor *from, const dml_tensor *to, dml_plan *plan)
{
    dml_plan_begin(plan, from->item);
    dml_plan_add_axes(plan, from, from, to);
}

int dml_move(const dml_state *state, const dml_endpoint *from, const dml_endpoint *to)
{
    dml_plan plan;
    dml_program program;
    dml_status status;
    dml_gil gil;
    dml_copy_plan(&from->tensor, &to->tensor, &plan);
    if (plan.item == 0 || dml_plan_count(&plan) == 0)
        return 0;
    const dml_choice *device = from->operand.allocation ? &from->device : &to->device;
    dml_program_of_plan(&program, &plan);
    const dml_transfer transfer = {.program = &program, .inputs = &from->operand, .results = &to->operand};
    dml_gil_lend(&gil);
    const dml_code code = dml_backend_of(device)->run(device->index, &transfer, &status);
    dml_gil_reclaim(&gil);
    dml_events_log();
    if (!code) {
        const int row = PyArray_Check(from->owner) ? DML_ROW_UPLOAD
                        : PyArray_Check(to->owner) ? DML_ROW_DOWNLOAD
                                                   : DML_ROW_COPY;
        dml_call_count((dml_counted_as){.row = row}, device, dml_plan_bytes(&plan));
        return 0;
    }
    if (status.in_use) {
        Py_INCREF(from->owner);
        Py_INCREF(to->owner);
    }
    dml_raise(state, &status);
    return -1;
}

PyObject *dml_upload(const dml_state *state, const dml_choice *device, PyArray_Descr *dtype, const dml_endpoint *from)
{
    PyObject *array = dml_device_array_new(state, device, from->operand.allocation, dtype, &from->tensor);
    if (!array)
        return NULL;
    dml_endpoint to;
    dml_endpoint_init(&to, array);
    if (dml_move(state, from, &to) < 0)
        Py_CLEAR(array);
    return array;
}

/* --- as a NumPy array -------------------------------------------------------------------------------------------- */

static int download(const dml_state *state, dml_device_array *array, PyObject *to)
{
    dml_endpoint from_endpoint, to_endpoint;
    dml_endpoint_init(&from_endpoint, (PyObject *)array);
    dml_endpoint_init(&to_endpoint, to);
    return dml_move(state, &from_endpoint, &to_endpoint);
}

static PyObject *download_new(const dml_state *state, dml_device_array *array)
{
    PyObject *result = dml_result_new(state, array->dtype, &array->tensor);
    if (result && download(state, array, result) < 0)
        Py_CLEAR(result);
    return result;
}

/* `out` may be a view, by DLPack, of the array's own memory: then through a temporary array. */
static int download_to(const dml_state *state, dml_device_array *array, PyObject *out)
{
    if (dml_out_check(out, "out", array->dtype, "the array", &array->tensor) < 0)
        return -1;
    if (!dml_arrays_may_overlap(out, (PyObject *)array))
        return download(state, array, out);
    PyObject *between = download_new(state, array);
    int failed = between ? PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)between) : -1;
    Py_XDECREF(between);
    return failed;
}

PyObject *dml_device_array_numpy(dml_state *state, dml_device_array *array, PyObject *out)
{
    if (out == Py_None)
        return download_new(state, array);
    if (!PyArray_Check(out)) {
        dml_type_error("out", "a numpy.ndarray or None", out);
        return NULL;
    }
    PyObject *private = out;
    Py_INCREF(out); /* for dml_make_private, */
    Py_INCREF(out); /* and for the caller */
    int failed = dml_make_private(&private) < 0 || download_to(state, array, private) < 0;
    Py_DECREF(private);
    if (failed)
        Py_CLEAR(out);
    return out;
}

/* --- as another device array ------------------------------------------------------------------------------------- */

PyObject *dml_device_array_copy(dml_state *state, dml_device_array *array, const dml_choice *device)
{
    dml_endpoint from;
    dml_endpoint_init(&from, (PyObject *)array);
    bool to_host = dml_backend_of(device) == &dml_host_backend;
    if (!from.operand.allocation || to_host || dml_same_device(device, &array->device))
        return dml_upload(state, device, array->dtype, &from);
    PyObject *between = download_new(state, array), *copy = NULL;
    if (between) {
        dml_endpoint_init(&from, between);
        copy = dml_upload(state, device, array->dtype, &from);
        Py_DECREF(between);
    }
    return copy;
}

/* --- dmlops.asarray and dmlops.empty -------------------------------------------------------------------------------- */

static PyObject *asarray_on_device(dml_state *state, dml_device_array *array, PyArray_Descr *dtype, const dml_choice *device,
                                   PyObject *copy)
{
    if (dtype && !PyArray_EquivTypes(dtype, array->dtype))
        return PyErr_Format(PyExc_TypeError,
                            "dtype must be that of the device array, %S, not %S: its elements are not converted",
                            (PyObject *)array->dtype, (PyObject *)dtype);
    bool same = !device || dml_same_device(device, &array->device);
    if (!same && copy == Py_False)
        return PyErr_Format(PyExc_ValueError, "copy must not be False for an array on another device");
    if (!same || copy == Py_True)
        return dml_device_array_copy(state, array, same ? &array->device : device);
    Py_INCREF((PyObject *)array);
    return (PyObject *)array;
}

static PyObject *asarray_on_host(dml_state *state, PyObject *object, PyArray_Descr *dtype, const dml_choice *device)
{
    Py_XINCREF((PyObject *)dtype); /* stolen */
    PyObject *array = (PyObject *)dml_array_from(object, dtype, "obj"), *result = NULL;
    dml_choice found;
    if (array && dml_make_private(&array) == 0 && dml_dtype_check(dml_array_dtype(array), "obj") == 0 &&
        (device || dml_device_from(state, Py_None, &found) == 0)) {
        dml_endpoint from;
        dml_endpoint_init(&from, array);
        result = dml_upload(state, device ? device : &found, dml_array_dtype(array), &from);
    }
    Py_XDECREF(array);
    return result;
}

PyObject *dml_asarray(PyObject *module, PyObject *args)
{
    dml_state *state = dml_state_of(module);
    PyObject *object, *dtype_object, *device_object, *copy;
    if (!PyArg_ParseTuple(args, "OOOO:asarray", &object, &dtype_object, &device_object, &copy))
        return NULL;
    PyArray_Descr *dtype = NULL;
    dml_choice choice, *device = device_object == Py_None ? NULL : &choice;
    if (!PyArray_DescrConverter2(dtype_object, &dtype))
        return NULL;
    PyObject *result = NULL;
    bool on_device = dml_is_device_array(state, object);
    if ((dtype && dml_dtype_check(dtype, "dtype") < 0) || (device && dml_device_from(state, device_object, device) < 0))
        result = NULL;
    else if (on_device)
        result = asarray_on_device(state, (dml_device_array *)object, dtype, device, copy);
    else if (copy == Py_False)
        PyErr_SetString(PyExc_ValueError, "copy must not be False for data on the host, which is always copied");
    else
        result = asarray_on_host(state, object, dtype, device);
    Py_XDECREF((PyObject *)dtype);
    return result;
}

static int shape_from(PyObject *object, dml_tensor *tensor)
{
    dml_ints shape;
    if (dml_shape_from(object, &shape) < 0)
        return -1;
    tensor->rank = (int)shape.count;
    for (int k = 0; k < tensor->rank; k++) {
        tensor->shape[k] = shape.value[k];
        if (shape.value[k] < 0) {
            PyErr_Format(PyExc_ValueError, "shape[%d] must be 0 or more; got %lld", k, (long long)shape.value[k]);
            return -1;
        }
    }
    return 0;
}

PyObject *dml_empty(PyObject *module, PyObject *args)
{
    const dml_state *state = dml_state_of(module);
    PyObject *shape, *dtype_object, *device_object;
    dml_tensor tensor;
    dml_choice device;
    PyArray_Descr *dtype = NULL;
    if (!PyArg_ParseTuple(args, "OOO:empty", &shape, &dtype_object, &device_object) || shape_from(shape, &tensor) < 0 ||
        !PyArray_DescrConverter(dtype_object, &dtype))
        return NULL;
    PyObject *result = NULL;
    tensor.item = (int64_t)PyDataType_ELSIZE(dtype);
    if (PyDataType_HASSUBARRAY(dtype))
        PyErr_SetString(PyExc_TypeError, "dtype must not be a subarray; add its shape to shape");
    else if (dml_dtype_check(dtype, "dtype") == 0 && dml_device_from(state, device_object, &device) == 0)
        result = dml_device_array_new(state, &device, NULL, dtype, &tensor);
    Py_DECREF((PyObject *)dtype);
    return result;
}
