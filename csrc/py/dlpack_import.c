#include "py/dlpack_import.h"

#include "py/device_choice.h"
#include "py/dlpack_types.h"
#include "py/transfer.h"

/* 0, or -1 with a BufferError set. */
static int check_tensor(const dl_tensor *tensor)
{
    if (tensor->device.type != DL_CPU)
        PyErr_Format(PyExc_BufferError, "only tensors in the CPU's memory can be read, not those of DLPack's device type %d",
                     (int)tensor->device.type);
    else if (tensor->ndim < 0 || tensor->ndim > DML_MAX_RANK)
        PyErr_Format(PyExc_BufferError, "a tensor must have at most %d axes, not %d", DML_MAX_RANK, (int)tensor->ndim);
    for (int k = 0; k < tensor->ndim && !PyErr_Occurred(); k++)
        if (tensor->shape[k] < 0)
            PyErr_Format(PyExc_BufferError, "a tensor must not have negative sizes; that of axis %d is %lld", k,
                         (long long)tensor->shape[k]);
    return PyErr_Occurred() ? -1 : 0;
}

/* `capsule` owns `tensor`. */
static PyObject *copy_tensor(dml_state *state, PyObject *capsule, const dl_tensor *tensor, bool read_only,
                             const dml_choice *device)
{
    if (check_tensor(tensor) < 0)
        return NULL;
    const dl_type *type = &tensor->type;
    PyArray_Descr *dtype =
        (PyArray_Descr *)PyObject_CallFunction(state->dlpack_dtype, "iii", type->code, type->bits, type->lanes);
    if (!dtype)
        return NULL;
    dml_endpoint from = {.owner = capsule,
                         .device = dml_host,
                         .operand = {.data = (char *)tensor->data + tensor->byte_offset, .read_only = read_only}};
    from.tensor.rank = tensor->ndim;
    from.tensor.item = (int64_t)PyDataType_ELSIZE(dtype);
    for (int k = 0; k < tensor->ndim; k++)
        from.tensor.shape[k] = tensor->shape[k];
    dml_tensor_pack(&from.tensor);
    for (int k = 0; tensor->strides && k < tensor->ndim; k++)
        from.tensor.strides[k] = tensor->strides[k] * from.tensor.item;
    PyObject *array = dml_upload(state, device, dtype, &from);
    Py_DECREF((PyObject *)dtype);
    return array;
}

PyObject *dml_dlpack_import(PyObject *module, PyObject *args)
{
    dml_state *state = dml_state_of(module);
    PyObject *capsule, *device_object;
    dml_choice device;
    if (!PyArg_ParseTuple(args, "OO:from_dlpack", &capsule, &device_object) ||
        dml_device_from(state, device_object, &device) < 0)
        return NULL;
    bool is_versioned = PyCapsule_IsValid(capsule, DL_VERSIONED_NAME);
    if (!is_versioned && !PyCapsule_IsValid(capsule, DL_NAME))
        return PyErr_Format(PyExc_TypeError, "__dlpack__ must give a fresh DLPack capsule");
    const char *name = is_versioned ? DL_VERSIONED_NAME : DL_NAME;
    dl_managed *managed = PyCapsule_GetPointer(capsule, name);
    dl_versioned *versioned = PyCapsule_GetPointer(capsule, name); /* the one or the other */
    if (is_versioned && versioned->major != 1)
        return PyErr_Format(PyExc_BufferError, "this is a tensor of DLPack %u, not of DLPack 1", (unsigned)versioned->major);
    /* Renamed before any Python can run, so that no other consumer can use it too, and renamed back if the copy fails. */
    if (PyCapsule_SetName(capsule, is_versioned ? DL_USED_VERSIONED_NAME : DL_USED_NAME) < 0)
        return NULL;
    bool read_only = is_versioned && versioned->flags & DL_READ_ONLY;
    PyObject *array = copy_tensor(state, capsule, is_versioned ? &versioned->tensor : &managed->tensor, read_only, &device);
    if (!array)
        PyCapsule_SetName(capsule, name);
    else if (is_versioned && versioned->deleter)
        versioned->deleter(versioned);
    else if (!is_versioned && managed->deleter)
        managed->deleter(managed);
    return array;
}
