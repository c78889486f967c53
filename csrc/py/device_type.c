/* The type dmlops.DeviceArray as Python sees it: its attributes and methods, and which file does the work. */
#include "py/device_array.h"

#include <stddef.h>
#include <structmember.h>

#include "py/arrays.h"
#include "py/transfer.h"
#include "py/views.h"

static dml_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static dml_device_array *cast(PyObject *self)
{
    return (dml_device_array *)self;
}

static void array_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    dml_allocation_release(cast(self)->allocation);
    Py_XDECREF((PyObject *)cast(self)->dtype);
    freefunc free_slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_slot(self);
    Py_DECREF(type);
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *self, void *Py_UNUSED(closure))
{
    return dml_shape_tuple(&cast(self)->tensor);
}

static PyObject *get_strides(PyObject *self, void *Py_UNUSED(closure))
{
    return dml_ints_tuple(cast(self)->tensor.strides, cast(self)->tensor.rank);
}

static PyObject *get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(dml_tensor_count(&cast(self)->tensor));
}

static PyObject *get_nbytes(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(dml_tensor_count(&cast(self)->tensor) * cast(self)->tensor.item);
}

static PyObject *get_device(PyObject *self, void *Py_UNUSED(closure))
{
    return dml_device_of(state_of(self), &cast(self)->device);
}

static Py_hash_t array_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)self >> 4); /* never -1: the high bits are 0 */
}

static Py_ssize_t array_length(PyObject *self)
{
    if (cast(self)->tensor.rank > 0)
        return (Py_ssize_t)cast(self)->tensor.shape[0];
    PyErr_SetString(PyExc_TypeError, "a 0-d dmlops.DeviceArray has no length");
    return -1;
}

static PyObject *array_item(PyObject *self, Py_ssize_t index)
{
    if (index < 0) { /* Python has added the length already */
        PyErr_SetString(PyExc_IndexError, "index is out of range");
        return NULL;
    }
    PyObject *key = PyLong_FromSsize_t(index);
    PyObject *item = key ? dml_view_index(self, key) : NULL;
    Py_XDECREF(key);
    return item;
}

static PyObject *array_subscript(PyObject *self, PyObject *key)
{
    if (dml_key_is_plain(self, key))
        return dml_view_index(self, key);
    PyObject *module = PyImport_ImportModule("dmlops.indices");
    PyObject *result = module ? PyObject_CallMethod(module, "gather_at", "OO", self, key) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *array_iter(PyObject *self)
{
    return array_length(self) < 0 ? NULL : PySeqIter_New(self);
}

/* --- methods ----------------------------------------------------------------------------------------------------- */

static PyObject *method_wait(PyObject *self, PyObject *Py_UNUSED(none))
{
    if (dml_device_array_wait(state_of(self), cast(self)) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_numpy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"out", NULL};
    PyObject *out = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:numpy", names, &out))
        return NULL;
    return dml_device_array_numpy(state_of(self), cast(self), out);
}

static int array_assign(PyObject *self, PyObject *key, PyObject *value)
{
    return dml_device_array_assign(state_of(self), self, key, value);
}

static PyMethodDef methods[] = {
    {"wait", method_wait, METH_NOARGS, "wait()\n--\n\nWait until all that is queued on the array's memory is done."},
    {"numpy", (PyCFunction)(void (*)(void))method_numpy, METH_VARARGS | METH_KEYWORDS,
     "numpy(out=None)\n--\n\nThe elements as a NumPy array: a new C-contiguous one, or `out`, once all that is queued on them\n"
     "is done."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"dtype", T_OBJECT_EX, offsetof(dml_device_array, dtype), READONLY, "What an element is."},
    {"ndim", T_INT, offsetof(dml_device_array, tensor.rank), READONLY, "How many axes there are."},
    {"itemsize", T_LONGLONG, offsetof(dml_device_array, tensor.item), READONLY, "Bytes of an element."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "Elements along each axis.", NULL},
    {"size", get_size, NULL, "How many elements there are.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next along each axis.", NULL},
    {"device", get_device, NULL, "The device that the array is on, a dmlops.Device.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static const char doc[] =
    "An array in a device's memory; what dmlops.asarray and dmlops.empty make, and the operators of such arrays.\n\n"
    "The operators queue their work and return; it is done in the order of the calls. ``numpy()`` and ``wait()`` wait for it.\n"
    "Basic indexing (ints, slices, ``...`` and None) gives a view, which costs nothing; assigning to an index changes the\n"
    "array. The memory is freed when the last view is gone and the device has finished with it.\n\n"
    "It prints as a NumPy array does, and one element converts to a Python scalar in the same way. NumPy's functions that\n"
    "make views, such as ``numpy.flip``, work. ``numpy.asarray``, ``array``, ``array_equal``, ``array_equiv``, ``allclose``\n"
    "and ``numpy.testing`` download. Other functions raise TypeError: call them with what ``numpy()`` gives. ``__dlpack__``\n"
    "shares an array with other libraries.\n\n"
    "Examples\n"
    "--------\n"
    ">>> import numpy as np, dmlops\n"
    ">>> a = dmlops.asarray(np.arange(24).reshape(1, 4, 2, 3))\n"
    ">>> dmlops.depth_to_space(a[..., ::-1], 2)[0, 0].numpy()\n"
    "array([[ 2,  8,  1,  7,  0,  6],\n"
    "       [14, 20, 13, 19, 12, 18],\n"
    "       [ 5, 11,  4, 10,  3,  9],\n"
    "       [17, 23, 16, 22, 15, 21]])\n";

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)doc},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_hash, array_hash},
    {Py_tp_iter, array_iter},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_sq_length, array_length},
    {Py_sq_item, array_item},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_subscript},
    {Py_mp_ass_subscript, array_assign},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "dmlops.DeviceArray",
    .basicsize = sizeof(dml_device_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int dml_device_type_init(dml_state *state, PyObject *module)
{
    state->device_array_type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!state->device_array_type)
        return -1;
    return PyModule_AddObjectRef(module, "DeviceArray", state->device_array_type);
}
