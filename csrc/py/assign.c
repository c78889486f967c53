#include "py/assign.h"

#include "py/arrays.h"
#include "py/out.h"
#include "py/shapes.h"
#include "py/transfer.h"
#include "py/views.h"

/* What is to be assigned, as an array of either kind on the right device and of the right dtype; a new reference. */
static PyObject *value_for(dml_state *state, dml_device_array *target, PyObject *value)
{
    PyObject *array = PyObject_CallFunctionObjArgs(state->element_of, value, (PyObject *)target->dtype, NULL);
    if (array != Py_None)
        return array;
    Py_DECREF(array); /* no scalar of Python's */
    array = value;
    if (dml_is_device_array(state, value)) {
        Py_INCREF(value);
        if (!dml_same_device(&((dml_device_array *)value)->device, &target->device)) {
            PyErr_SetString(PyExc_ValueError, "a value on another device must be brought here by dmlops.asarray first");
            Py_CLEAR(array);
        }
    } else {
        array = (PyObject *)dml_array_from(value, NULL, "value");
        if (array && dml_make_private(&array) < 0)
            Py_CLEAR(array); /* uncovered: a fault that only soak injects */
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
        int axis = k + from->rank - to->rank; /* of `from` */
        int64_t extent = axis < 0 ? 1 : from->shape[axis];
        fits = fits && (extent == to->shape[k] || extent == 1);
        result->shape[k] = to->shape[k];
        result->strides[k] = extent == 1 ? 0 : from->strides[axis];
    }
    if (fits)
        return 0;
    return dml_wrong_shape("%s of shape %R does not broadcast to shape %R", "a value", from, to);
}

/* Moves the elements of `value`, an array that shares no memory with `view`. */
static int assign(const dml_state *state, PyObject *view, PyObject *value)
{
    dml_endpoint from, to;
    dml_endpoint_init(&from, value);
    dml_endpoint_init(&to, view);
    const dml_tensor tensor = from.tensor;
    return broadcast(&tensor, &to.tensor, &from.tensor) < 0 ? -1 : dml_move(state, &from, &to);
}

int dml_device_array_assign(dml_state *state, PyObject *self, PyObject *key, PyObject *value)
{
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a dmlops.DeviceArray cannot be deleted");
        return -1;
    }
    /* The key first: it may run code of the caller's, for which the value would be one more thing to change. */
    PyObject *view = dml_view_index(self, key);
    PyObject *array = view ? value_for(state, (dml_device_array *)view, value) : NULL;
    if (array && dml_arrays_may_overlap(array, view)) {
        PyObject *copy = PyArray_Check(array)
                             ? PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER)
                             : dml_device_array_copy(state, (dml_device_array *)array, &((dml_device_array *)view)->device);
        Py_DECREF(array);
        array = copy;
    }
    int failed = array ? assign(state, view, array) : -1;
    Py_XDECREF(view);
    Py_XDECREF(array);
    return failed;
}
