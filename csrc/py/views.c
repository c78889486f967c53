#include "py/views.h"

#include "py/arguments.h"
#include "py/arrays.h"
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
