/* Elements to and from device arrays: asarray, numpy, copies between devices, assignment. */
#include "py/device_array.h"

#include <string.h>

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/call.h"
#include "py/errors.h"

void dml_endpoint_init(dml_endpoint *end, PyObject *array)
{
    end->owner = array;
    end->place = dml_array_operand(array);
    dml_array_describe(array, &end->tensor);
}

int dml_move(const dml_state *state, const dml_choice *device, const dml_endpoint *from, const dml_endpoint *to)
{
    dml_plan plan;
    dml_status status;
    dml_code code;
    dml_copy_plan(&from->tensor, &to->tensor, &plan);
    if (plan.item == 0 || dml_plan_count(&plan) == 0)
        return 0;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_run_plan(device, &plan, from->place, to->place, NULL, true, &status);
    Py_END_ALLOW_THREADS;
    if (!code)
        return 0;
    if (status.in_use) {
        Py_INCREF(from->owner);
        Py_INCREF(to->owner);
    }
    dml_raise(state, &status);
    return -1;
}

PyObject *dml_upload(const dml_state *state, const dml_choice *device, PyArray_Descr *dtype, const dml_endpoint *from)
{
    PyObject *array = dml_device_array_new(state, device, NULL, dtype, &from->tensor);
    if (!array)
        return NULL;
    dml_endpoint to;
    dml_endpoint_init(&to, array);
    if (dml_move(state, device, from, &to) < 0)
        Py_CLEAR(array);
    return array;
}

static PyObject *upload_array(const dml_state *state, const dml_choice *device, PyObject *array)
{
    dml_endpoint from;
    dml_endpoint_init(&from, array);
    return dml_upload(state, device, dml_array_dtype(array), &from);
}

/* Into `out`, which the array's memory was lent to: by way of another one. */
static int download_lent(dml_state *state, dml_device_array *array, PyObject *out)
{
    PyObject *between = dml_device_array_numpy(state, array, Py_None);
    int failed = between ? PyArray_CopyInto((PyArrayObject *)out, (PyArrayObject *)between) : -1;
    Py_XDECREF(between);
    return failed;
}

PyObject *dml_device_array_numpy(dml_state *state, dml_device_array *array, PyObject *given)
{
    bool wanted = given != Py_None;
    if (wanted && !PyArray_Check(given)) {
        dml_type_error("out", "a numpy.ndarray or None", given);
        return NULL;
    }
    PyObject *out = wanted ? given : dml_result_new(state, array->dtype, &array->tensor);
    if (!out)
        return NULL;
    if (wanted) {
        Py_INCREF(out);
        if (dml_make_private(&out) < 0 || dml_out_check(out, array->dtype, &array->tensor) < 0) {
            Py_DECREF(out);
            return NULL;
        }
    }
    bool lent = wanted && dml_arrays_may_overlap(out, (PyObject *)array);
    dml_endpoint from, to;
    dml_endpoint_init(&from, (PyObject *)array);
    dml_endpoint_init(&to, out);
    int failed = lent ? download_lent(state, array, out) : dml_move(state, &array->device, &from, &to);
    if (wanted && !failed) {
        Py_INCREF(given);
        Py_DECREF(out);
        return given;
    }
    if (failed)
        Py_CLEAR(out);
    return out;
}

PyObject *dml_device_array_copy(dml_state *state, dml_device_array *array, const dml_choice *device)
{
    if (dml_same_device(device, &array->device) || array->device.host)
        return upload_array(state, device, (PyObject *)array);
    PyObject *between = dml_device_array_numpy(state, array, Py_None);
    PyObject *copy = between ? upload_array(state, device, between) : NULL;
    Py_XDECREF(between);
    return copy;
}

/* --- asarray, empty ---------------------------------------------------------------------------------------------- */

/* 1, 0, or -1 for None. -2 with an exception set. */
static int copy_from(PyObject *copy)
{
    if (copy == Py_None)
        return -1;
    int wanted = PyObject_IsTrue(copy);
    return wanted < 0 ? -2 : wanted;
}

static PyObject *asarray_on_device(dml_state *state, dml_device_array *array, PyArray_Descr *dtype, const dml_choice *device,
                                   int copy)
{
    if (dtype && !PyArray_EquivTypes(dtype, array->dtype))
        return PyErr_Format(PyExc_TypeError,
                            "dtype must be that of the device array, %S, not %S: its elements are not converted",
                            (PyObject *)array->dtype, (PyObject *)dtype);
    bool same = !device || dml_same_device(device, &array->device);
    if (!same && copy == 0)
        return PyErr_Format(PyExc_ValueError, "copy must not be False for an array on another device");
    if (!same || copy == 1)
        return dml_device_array_copy(state, array, same ? &array->device : device);
    Py_INCREF((PyObject *)array);
    return (PyObject *)array;
}

static PyObject *asarray_on_host(dml_state *state, PyObject *object, PyArray_Descr *dtype, const dml_choice *device)
{
    Py_XINCREF((PyObject *)dtype); /* taken */
    PyObject *array = (PyObject *)dml_array_any(object, dtype, "obj"), *result = NULL;
    dml_choice found;
    if (array && dml_make_private(&array) == 0 && dml_dtype_check(dml_array_dtype(array), "obj") == 0 &&
        (device || dml_device_default(state, &found) == 0))
        result = upload_array(state, device ? device : &found, array);
    Py_XDECREF(array);
    return result;
}

PyObject *dml_asarray(dml_state *state, PyObject *object, PyObject *dtype_object, PyObject *device_object,
                      PyObject *copy_object)
{
    PyArray_Descr *dtype = NULL;
    dml_choice choice, *device = device_object == Py_None ? NULL : &choice;
    int copy = copy_from(copy_object);
    if (copy < -1 || !PyArray_DescrConverter2(dtype_object, &dtype))
        return NULL;
    PyObject *result = NULL;
    bool on_device = dml_is_device_array(state, object);
    if ((dtype && dml_dtype_check(dtype, "dtype") < 0) || (device && dml_device_choose(state, device_object, device) < 0))
        result = NULL;
    else if (on_device)
        result = asarray_on_device(state, (dml_device_array *)object, dtype, device, copy);
    else if (copy == 0)
        PyErr_SetString(PyExc_ValueError, "copy must not be False for data on the host, which is always copied");
    else
        result = asarray_on_host(state, object, dtype, device);
    Py_XDECREF((PyObject *)dtype);
    return result;
}

static int shape_from(PyObject *object, dml_tensor *tensor)
{
    dml_ints shape;
    bool single;
    if (dml_int_or_ints_from(object, "shape", &shape, &single) < 0)
        return -1;
    if (shape.count > DML_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "shape must have at most %d entries, not %lld", DML_MAX_RANK, (long long)shape.count);
        return -1;
    }
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

PyObject *dml_empty(dml_state *state, PyObject *shape, PyObject *dtype_object, PyObject *device_object)
{
    dml_tensor tensor;
    dml_choice device;
    PyArray_Descr *dtype = NULL;
    if (shape_from(shape, &tensor) < 0 || !PyArray_DescrConverter(dtype_object, &dtype))
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

/* --- a[key] = value ---------------------------------------------------------------------------------------------- */

static bool is_scalar(PyObject *value)
{
    return PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyComplex_CheckExact(value) ||
           PyUnicode_CheckExact(value) || PyBytes_CheckExact(value);
}

/* Whether Python's type of number, or text, goes into the dtype at all: as NumPy sees it, bool < int < float < complex. */
static bool scalar_fits(PyObject *value, PyArray_Descr *dtype)
{
    static const char order[] = "b iu f c";
    if (PyUnicode_Check(value) || PyBytes_Check(value))
        return dtype->kind == (PyUnicode_Check(value) ? 'U' : 'S');
    int rank = PyBool_Check(value) ? 0 : PyLong_Check(value) ? 2 : PyFloat_Check(value) ? 5 : 7;
    if (PyTypeNum_ISUSERDEF(dtype->type_num)) /* those of ml_dtypes are small ints, or floats */
        return rank < (dml_dtype_is_integer(dtype) ? 5 : 7);
    const char *place = dtype->kind ? strchr(order, dtype->kind) : NULL;
    return place && place - order >= rank;
}

/* A 0-d array of a Python scalar in `dtype`, which may not change it: 300 is no uint8. */
static PyObject *array_of_scalar(PyObject *value, PyArray_Descr *dtype)
{
    if (!scalar_fits(value, dtype)) {
        PyErr_Format(PyExc_TypeError, "%R does not go into an array of dtype %S", value, (PyObject *)dtype);
        return NULL;
    }
    Py_INCREF((PyObject *)dtype);
    PyObject *array = PyArray_FromAny(value, dtype, 0, 0, NPY_ARRAY_ENSUREARRAY | NPY_ARRAY_FORCECAST, NULL);
    bool exact = dml_dtype_is_integer(dtype) || dtype->kind == 'S' || dtype->kind == 'U';
    PyObject *back = array && exact ? PyObject_CallMethod(array, "item", NULL) : NULL;
    int same = array && !exact ? 1 : -1;
    if (back)
        same = PyObject_RichCompareBool(back, value, Py_EQ);
    Py_XDECREF(back);
    if (same == 0)
        PyErr_Format(PyLong_Check(value) ? PyExc_OverflowError : PyExc_ValueError, "%R does not fit into dtype %S", value,
                     (PyObject *)dtype);
    if (same != 1)
        Py_CLEAR(array);
    return array;
}

/* What is to be assigned, as an array of either kind on the right device and of the right dtype; a new reference. */
static PyObject *value_for(dml_state *state, dml_device_array *target, PyObject *value)
{
    if (is_scalar(value))
        return array_of_scalar(value, target->dtype);
    PyObject *array = value;
    if (dml_is_device_array(state, value)) {
        Py_INCREF(value);
        if (!dml_same_device(&((dml_device_array *)value)->device, &target->device)) {
            PyErr_SetString(PyExc_ValueError, "a value on another device must be brought here by dmlops.asarray first");
            Py_CLEAR(array);
        }
    } else {
        array = (PyObject *)dml_array_from(value, "value");
        if (array && dml_make_private(&array) < 0)
            Py_CLEAR(array);
    }
    if (array && !PyArray_EquivTypes(dml_array_dtype(array), target->dtype)) {
        PyErr_Format(PyExc_TypeError, "a value must have the array's dtype %S, not %S", (PyObject *)target->dtype,
                     (PyObject *)dml_array_dtype(array));
        Py_CLEAR(array);
    }
    return array;
}

/* As numpy.broadcast_to: strides of 0 where `from` has size 1, or no axis; leading axes of size 1 too many are dropped. */
static int broadcast(const dml_tensor *from, const dml_tensor *to, dml_tensor *result)
{
    result->rank = to->rank;
    result->item = to->item;
    bool fits = true;
    for (int k = 0; k < from->rank - to->rank; k++)
        fits = fits && from->shape[k] == 1;
    for (int k = 0; k < to->rank; k++) {
        int place = k + from->rank - to->rank;
        int64_t extent = place < 0 ? 1 : from->shape[place];
        fits = fits && (extent == to->shape[k] || extent == 1);
        result->shape[k] = to->shape[k];
        result->strides[k] = extent == 1 ? 0 : from->strides[place];
    }
    if (fits)
        return 0;
    return dml_wrong_shape("a value of shape %R does not broadcast to shape %R", from, to);
}

int dml_device_array_assign(dml_state *state, PyObject *self, PyObject *key, PyObject *value)
{
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a dmlops.DeviceArray cannot be deleted");
        return -1;
    }
    /* The key first: it may run code of the caller's, for which the value would be one more thing to change. */
    dml_device_array *view = (dml_device_array *)dml_view_index(self, key);
    PyObject *array = view ? value_for(state, view, value) : NULL;
    int failed = -1;
    if (array && dml_arrays_may_overlap(array, (PyObject *)view)) {
        /* By way of a copy: nobody else uses it, and it may go before the device has read it. */
        PyObject *copy = PyArray_Check(array) ? PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER)
                                              : dml_device_array_copy(state, (dml_device_array *)array, &view->device);
        Py_DECREF(array);
        array = copy;
    }
    if (array) {
        dml_endpoint from, to;
        dml_tensor tensor;
        dml_endpoint_init(&from, array);
        dml_endpoint_init(&to, (PyObject *)view);
        tensor = from.tensor;
        failed = broadcast(&tensor, &to.tensor, &from.tensor) < 0 || dml_move(state, &view->device, &from, &to) < 0 ? -1 : 0;
    }
    Py_XDECREF((PyObject *)view);
    Py_XDECREF(array);
    return failed;
}
