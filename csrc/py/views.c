#include "py/views.h"

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/device_array.h"
#include "py/out.h"
#include "py/transfer.h"

/* --- indexing ---------------------------------------------------------------------------------------------------- */

static int wrong_key(PyObject *entry)
{
    PyObject *type = PyType_GetName(Py_TYPE(entry));
    if (type)
        PyErr_Format(PyExc_IndexError,
                     "only ints, slices, ... and None index a dmlops.DeviceArray, not %U: index what .numpy() gives", type);
    Py_XDECREF(type);
    return -1;
}

/* Whether an entry of a key of `array` is one of basic indexing. Other libraries' arrays have __index__, too. */
static bool is_plain(PyObject *array, PyObject *entry)
{
    if (entry == Py_None || entry == Py_Ellipsis || PySlice_Check(entry))
        return true;
    if (Py_TYPE(entry) == Py_TYPE(array))
        return ((dml_device_array *)entry)->tensor.rank == 0;
    bool of_numpy = PyArray_Check(entry) || PyArray_CheckScalar(entry);
    return dml_is_int(entry) && (of_numpy || !PyMapping_Check(entry));
}

bool dml_key_is_plain(PyObject *self, PyObject *key)
{
    bool plain = PyTuple_Check(key) || is_plain(self, key);
    for (Py_ssize_t k = 0; PyTuple_Check(key) && k < PyTuple_Size(key); k++)
        plain = plain && is_plain(self, PyTuple_GetItem(key, k));
    return plain;
}

/* An entry of a key of `array`, if it is one of basic indexing; a new reference. */
static PyObject *plain_entry(PyObject *array, PyObject *entry)
{
    if (!is_plain(array, entry)) {
        wrong_key(entry);
        return NULL;
    }
    if (entry != Py_None && entry != Py_Ellipsis && !PySlice_Check(entry))
        return PyNumber_Index(entry);
    Py_INCREF(entry);
    return entry;
}

/* A new tuple of plain entries, with `...` added at the end if it has none, so that NumPy returns a 0-d array for a full
 * index. */
static PyObject *plain_key(PyObject *array, PyObject *key)
{
    bool many = PyTuple_Check(key), ellipsis = false;
    Py_ssize_t count = many ? PyTuple_Size(key) : 1;
    for (Py_ssize_t k = 0; k < count; k++)
        ellipsis = ellipsis || (many ? PyTuple_GetItem(key, k) : key) == Py_Ellipsis;
    PyObject *plain = PyTuple_New(count + !ellipsis);
    for (Py_ssize_t k = 0; plain && k < count; k++) {
        PyObject *entry = plain_entry(array, many ? PyTuple_GetItem(key, k) : key);
        if (!entry || PyTuple_SetItem(plain, k, entry) < 0)
            Py_CLEAR(plain);
    }
    if (plain && !ellipsis) {
        Py_INCREF(Py_Ellipsis);
        if (PyTuple_SetItem(plain, count, Py_Ellipsis) < 0)
            Py_CLEAR(plain); /* uncovered: a new tuple accepts every item */
    }
    return plain;
}

/* NumPy decides what an index means. It is asked about a stand-in: an array with the shape and strides of the device array,
 * whose items have no bytes. So Python code that gets to see it, by a traceback's locals for example, may print, copy or
 * change it: none of that reaches memory. Its address is one that none is near. */
static char *const nowhere = (char *)((intptr_t)1 << (8 * sizeof(intptr_t) - 3));

static PyObject *stand_in(const dml_device_array *array)
{
    npy_intp shape[DML_MAX_RANK], strides[DML_MAX_RANK];
    for (int k = 0; k < array->tensor.rank; k++) {
        shape[k] = (npy_intp)array->tensor.shape[k];
        strides[k] = (npy_intp)array->tensor.strides[k];
    }
    PyArray_Descr *no_bytes = PyArray_DescrFromType(NPY_VOID); /* the new array steals it */
    return PyArray_NewFromDescr(&PyArray_Type, no_bytes, array->tensor.rank, shape, strides, nowhere, 0, NULL);
}

/* Whether all that a view reaches from `offset` bytes behind the first element of an array is reached by the array, too. */
static bool is_within(const dml_tensor *view, int64_t offset, const dml_tensor *array)
{
    dml_span inner, outer;
    bool known = dml_tensor_span(view, &inner) && dml_tensor_span(array, &outer);
    return known && inner.begin >= outer.begin - offset && inner.end <= outer.end - offset;
}

static PyObject *no_view(void)
{
    return PyErr_Format(PyExc_TypeError, "function must return a view");
}

/* The view of a device array that NumPy has made of its stand-in; steals `view`, NULL with an exception set if it is that. */
static PyObject *view_like(dml_device_array *array, PyObject *view)
{
    if (!view)
        return NULL;
    dml_tensor tensor;
    dml_array_describe(view, &tensor);
    tensor.item = array->tensor.item;
    bool empty = dml_tensor_is_empty(&tensor), counted = false;
    for (int k = 0; k < tensor.rank; k++)
        counted = counted || tensor.strides[k] != 0;
    if (!counted) /* NumPy has counted strides anew, with items of no bytes */
        dml_tensor_pack(&tensor);
    int64_t offset = empty ? 0 : (char *)PyArray_DATA((PyArrayObject *)view) - nowhere; /* an empty view may begin anywhere */
    Py_DECREF(view);
    if (is_within(&tensor, offset, &array->tensor))
        return dml_device_array_view(array, array->offset + offset, &tensor);
    return no_view();
}

PyObject *dml_view_index(PyObject *self, PyObject *key)
{
    dml_device_array *array = (dml_device_array *)self;
    PyObject *plain = plain_key(self, key), *like = plain ? stand_in(array) : NULL;
    PyObject *result = view_like(array, like ? PyObject_GetItem(like, plain) : NULL);
    Py_XDECREF(like);
    Py_XDECREF(plain);
    return result;
}

PyObject *dml_view_by(PyObject *module, PyObject *args)
{
    PyTypeObject *type = (PyTypeObject *)dml_state_of(module)->device_array_type;
    PyObject *self, *function;
    if (!PyArg_ParseTuple(args, "O!O:_view", type, &self, &function))
        return NULL;
    dml_device_array *array = (dml_device_array *)self;
    PyObject *like = stand_in(array), *view = like ? PyObject_CallFunctionObjArgs(function, like, NULL) : NULL;
    Py_XDECREF(like);
    if (!view || PyArray_Check(view))
        return view_like(array, view);
    Py_DECREF(view);
    return no_view();
}

PyObject *dml_shape(PyObject *Py_UNUSED(module), PyObject *sizes)
{
    dml_ints shape;
    return dml_shape_from(sizes, &shape) < 0 ? NULL : dml_ints_tuple(shape.value, (int)shape.count);
}

/* --- assignment to an index ----------------------------------------------------------------------- */

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
