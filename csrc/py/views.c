#include "py/views.h"

#include "py/arguments.h"
#include "py/device_array.h"
#include "py/shapes.h"

/* --- indexing ---------------------------------------------------------------------------------------------------- */

static int wrong_key(PyObject *entry)
{
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(entry), "__name__");
    if (type)
        PyErr_Format(PyExc_IndexError,
                     "only ints, slices, ... and None index a dmlops.DeviceArray, not %U: index what .numpy() gives", type);
    Py_XDECREF(type);
    return -1;
}

/* An entry of a key of `array`, if it is one of basic indexing; a new reference. */
static PyObject *plain_entry(PyObject *array, PyObject *entry)
{
    bool many = Py_TYPE(entry) == Py_TYPE(array) && ((dml_device_array *)entry)->tensor.rank > 0;
    if (!many && dml_is_int(entry))
        return PyNumber_Index(entry);
    if (entry != Py_None && entry != Py_Ellipsis && !PySlice_Check(entry)) {
        wrong_key(entry);
        return NULL;
    }
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

/* NumPy decides what an index means. It is asked about a stand-in: an array with the shape and strides of the device array, at
 * an address that no memory is near. Views of it are made without reading an element, and neither it nor they leave this
 * file. */
static char *const nowhere = (char *)((intptr_t)1 << (8 * sizeof(intptr_t) - 3));

static PyObject *stand_in(const dml_device_array *array)
{
    npy_intp shape[DML_MAX_RANK], strides[DML_MAX_RANK];
    for (int k = 0; k < array->tensor.rank; k++) {
        shape[k] = (npy_intp)array->tensor.shape[k];
        strides[k] = (npy_intp)array->tensor.strides[k];
    }
    return PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(NPY_UINT8), array->tensor.rank, shape, strides, nowhere, 0,
                                NULL);
}

/* The view of a device array that NumPy has made of its stand-in; steals `view`, NULL with an exception set if it is that. */
static PyObject *view_like(dml_device_array *array, PyObject *view)
{
    if (!view)
        return NULL;
    PyArrayObject *found = (PyArrayObject *)view;
    dml_tensor tensor = {.rank = PyArray_NDIM(found), .item = array->tensor.item};
    for (int k = 0; k < tensor.rank; k++) {
        tensor.shape[k] = PyArray_DIM(found, k);
        tensor.strides[k] = PyArray_STRIDE(found, k);
    }
    int64_t offset = PyArray_SIZE(found) > 0 ? (char *)PyArray_DATA(found) - nowhere : 0; /* an empty view may begin anywhere */
    Py_DECREF(view);
    return dml_device_array_view(array, array->offset + offset, &tensor);
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
    return PyErr_Format(PyExc_TypeError, "function must return a view");
}

/* --- transpose --------------------------------------------------------------------------------------------------- */

PyObject *dml_view_transpose(PyObject *self, PyObject *args)
{
    dml_device_array *array = (dml_device_array *)self;
    PyObject *like = stand_in(array), *transpose = like ? PyObject_GetAttrString(like, "transpose") : NULL;
    PyObject *result = view_like(array, transpose ? PyObject_CallObject(transpose, args) : NULL);
    Py_XDECREF(transpose);
    Py_XDECREF(like);
    return result;
}

PyObject *dml_view_t(PyObject *self, void *Py_UNUSED(closure))
{
    return dml_view_transpose(self, NULL);
}

/* --- reshape ----------------------------------------------------------------------------------------------------- */

/* reshape(2, 3) and reshape((2, 3)) alike. */
static int shape_from(PyObject *args, dml_ints *shape)
{
    bool bare = PyTuple_Size(args) == 1 && !dml_is_int(PyTuple_GetItem(args, 0));
    if (dml_ints_from(bare ? PyTuple_GetItem(args, 0) : args, "shape", shape) < 0)
        return -1;
    if (shape->count <= DML_MAX_RANK)
        return 0;
    PyErr_Format(PyExc_ValueError, "shape must have at most %d entries, not %lld", DML_MAX_RANK, (long long)shape->count);
    return -1;
}

/* The shape asked for, with -1 replaced by what is left. */
static int find_shape(const dml_tensor *from, const dml_ints *wanted, dml_tensor *to)
{
    int64_t size = dml_tensor_count(from), known = 1;
    int unknown = -1;
    to->rank = (int)wanted->count;
    to->item = from->item;
    bool fits = true;
    for (int k = 0; k < to->rank; k++) {
        int64_t extent = to->shape[k] = wanted->value[k];
        fits = fits && (extent >= 0 || (extent == -1 && unknown < 0)) && (extent <= 0 || known <= INT64_MAX / extent);
        if (extent == -1)
            unknown = k;
        else if (fits)
            known *= extent;
    }
    if (fits && unknown >= 0) {
        fits = known > 0 && size % known == 0;
        to->shape[unknown] = fits ? size / known : 0;
        known = size;
    }
    if (fits && known == size)
        return 0;
    for (int k = 0; k < to->rank; k++)
        to->shape[k] = wanted->value[k];
    return dml_wrong_shape("%s of shape %R cannot be reshaped to %R", "an array", from, to);
}

/* Finds strides for `to`, which has as many elements as `from`, at least one. Axes are split into the smallest groups that
 * have equal sizes on both sides; those of `from` must be contiguous within a group. False if they are not: then a copy is
 * needed. */
static bool find_strides(const dml_tensor *from, dml_tensor *to)
{
    int a = 0, b = 0;
    while (b < to->rank) {
        int64_t a_size = 1, b_size = to->shape[b];
        int a_begin = a, b_begin = b++;
        while (a_size != b_size || (a < from->rank && from->shape[a] == 1)) {
            if (a_size < b_size || (a_size == b_size && a < from->rank))
                a_size *= from->shape[a++];
            else
                b_size *= to->shape[b++];
        }
        /* from's axes [a_begin, a) must be one run */
        int64_t stride = 0, reach = 0;
        for (int k = a - 1; k >= a_begin; k--) {
            if (from->shape[k] == 1)
                continue;
            if (reach > 0 && from->strides[k] != reach * stride)
                return false;
            stride = reach > 0 ? stride : from->strides[k];
            reach = (reach > 0 ? reach : 1) * from->shape[k];
        }
        stride = reach > 0 ? stride : from->item;
        for (int k = b - 1; k >= b_begin; k--) {
            to->strides[k] = stride;
            stride *= to->shape[k];
        }
    }
    return true;
}

PyObject *dml_view_reshape(PyObject *self, PyObject *args)
{
    dml_device_array *array = (dml_device_array *)self;
    dml_ints wanted;
    dml_tensor tensor = {.rank = 0};
    if (shape_from(args, &wanted) < 0 || find_shape(&array->tensor, &wanted, &tensor) < 0 || dml_shape_check(&tensor) < 0)
        return NULL;
    if (dml_tensor_is_empty(&tensor))
        dml_tensor_pack(&tensor);
    else if (!find_strides(&array->tensor, &tensor)) {
        PyErr_SetString(PyExc_ValueError, "this view cannot be reshaped so without a copy; .copy() makes one");
        return NULL;
    }
    return dml_device_array_view(array, array->offset, &tensor);
}
