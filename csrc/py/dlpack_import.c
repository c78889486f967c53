#include "py/dlpack.h"

#include <stdarg.h>
#include <string.h>

#include "device/backend.h"
#include "py/arrays.h"
#include "py/device_choice.h"
#include "py/errors.h"
#include "py/transfer.h"

/* The number of a choice as CUDA counts devices; -1 if it is none of CUDA's, and the status says why. */
static int cuda_number(const dml_choice *choice, dml_status *status)
{
    dml_context *context;
    dml_code code;
    int ordinal;
    if (choice->host) {
        dml_fail(status, DML_CUDA_ERROR, "the host is no device of CUDA's");
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS;
    code = dml_vk_context(choice->index, &context, status);
    if (!code)
        code = dml_cuda_of_context(context, &ordinal, status);
    Py_END_ALLOW_THREADS;
    return code ? -1 : ordinal;
}

PyObject *dml_dlpack_cuda(PyObject *module, PyObject *object)
{
    dml_choice choice;
    dml_status status;
    if (dml_device_from(dml_state_of(module), object, &choice) < 0)
        return NULL;
    int number = cuda_number(&choice, &status);
    return number < 0 ? dml_text(status.message) : PyLong_FromLong(number);
}

static int refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(PyExc_BufferError, format, arguments);
    va_end(arguments);
    return -1;
}

/* Whether a tensor of the host's, or of CUDA's memory of the device, can be read: 0, or -1 with a BufferError set. */
static int check_shape(const dl_tensor *tensor, const dml_choice *device)
{
    dml_status status;
    const dl_device *on = &tensor->device;
    if (on->type != DL_CPU && (on->type != DL_CUDA || on->index < 0 || on->index != cuda_number(device, &status)))
        return refuse("only tensors in the CPU's memory can be read, not those of DLPack's device type %d", (int)on->type);
    if (tensor->ndim < 0 || tensor->ndim > DML_MAX_RANK)
        return refuse("a tensor must have at most %d axes, not %d", DML_MAX_RANK, (int)tensor->ndim);
    if (tensor->ndim > 0 && !tensor->shape)
        return refuse("a tensor of %d axes must have a shape; it is NULL", (int)tensor->ndim);
    for (int k = 0; k < tensor->ndim; k++)
        if (tensor->shape[k] < 0)
            return refuse("a tensor must not have negative sizes; that of axis %d is %lld", k, (long long)tensor->shape[k]);
    return 0;
}

/* The strides in bytes; those that reach no element are those of a C-contiguous array. 0, or -1 with a BufferError set. */
static int import_strides(const dl_tensor *from, dml_tensor *to)
{
    if (dml_tensor_bytes(to) == INT64_MAX)
        return refuse("a tensor must have less than 2**63 bytes");
    dml_tensor_pack(to);
    for (int k = 0; from->strides && !dml_tensor_is_empty(to) && k < from->ndim; k++) {
        if (from->shape[k] == 1)
            continue;
        if (from->strides[k] < INT64_MIN / to->item || from->strides[k] > INT64_MAX / to->item)
            return refuse("a tensor's strides must fit into 64 bits; that of axis %d is %lld elements", k,
                          (long long)from->strides[k]);
        to->strides[k] = from->strides[k] * to->item;
    }
    return 0;
}

/* The first element of `to`. All that it reaches must be within the address space. 0, or -1 with a BufferError set. */
static int import_data(const dl_tensor *from, const dml_tensor *to, char **data)
{
    dml_span span;
    bool fits = dml_tensor_span(to, &span);
    uint64_t base = (uint64_t)(uintptr_t)from->data, first = base + from->byte_offset;
    *data = (char *)(uintptr_t)first;
    if (dml_tensor_is_empty(to))
        return 0;
    if (!from->data)
        return refuse("a tensor with elements must have data; it is NULL");
    if (!fits || first < base || (uint64_t)-span.begin > first || (uint64_t)span.end > UINTPTR_MAX - first)
        return refuse("a tensor must lie within the address space, which its sizes, strides and byte_offset leave");
    return 0;
}

/* A new array with the elements of a tensor in CUDA's memory, whose first element is at `first`. All bytes that the tensor
 * reaches are copied; unless they are in order, the device puts them there. */
static PyObject *copy_from_cuda(dml_state *state, const dml_choice *device, PyArray_Descr *dtype, const dml_tensor *tensor,
                                const char *first)
{
    dml_span span;
    dml_tensor whole = {.rank = 1, .item = tensor->item}, packed = *tensor;
    dml_tensor_span(tensor, &span);
    whole.shape[0] = (span.end - span.begin) / tensor->item;
    PyObject *bytes = dml_device_array_new(state, device, NULL, dtype, &whole), *result = NULL;
    if (!bytes)
        return NULL;
    dml_device_array *array = (dml_device_array *)bytes;
    dml_status status = {.code = DML_OK};
    Py_BEGIN_ALLOW_THREADS;
    if (span.end > span.begin)
        dml_cuda_fill(array->allocation, (unsigned long long)(uintptr_t)(first + span.begin), (size_t)(span.end - span.begin),
                      &status);
    Py_END_ALLOW_THREADS;
    dml_tensor_pack(&packed);
    if (status.code) {
        dml_raise(state, &status);
    } else if (memcmp(packed.strides, tensor->strides, (size_t)packed.rank * sizeof packed.strides[0]) == 0) {
        result = dml_device_array_view(array, 0, &packed);
    } else {
        dml_endpoint from;
        dml_endpoint_init(&from, bytes);
        from.operand.offset = (uint64_t)-span.begin;
        from.tensor = *tensor;
        result = dml_upload(state, device, dtype, &from);
    }
    Py_DECREF(bytes);
    return result;
}

/* `capsule` owns `tensor`. */
static PyObject *copy_tensor(dml_state *state, PyObject *capsule, const dl_tensor *tensor, bool read_only,
                             const dml_choice *device)
{
    if (check_shape(tensor, device) < 0)
        return NULL;
    const dl_type *type = &tensor->type;
    PyArray_Descr *dtype =
        (PyArray_Descr *)PyObject_CallFunction(state->dlpack_dtype, "iii", type->code, type->bits, type->lanes);
    if (!dtype)
        return NULL;
    char *data;
    PyObject *array = NULL;
    dml_endpoint from = {.owner = capsule, .device = dml_host};
    from.tensor.rank = tensor->ndim;
    from.tensor.item = (int64_t)PyDataType_ELSIZE(dtype);
    for (int k = 0; k < tensor->ndim; k++)
        from.tensor.shape[k] = tensor->shape[k];
    if (import_strides(tensor, &from.tensor) == 0 && import_data(tensor, &from.tensor, &data) == 0) {
        from.operand = (dml_operand){.data = data, .read_only = read_only};
        array = tensor->device.type == DL_CUDA ? copy_from_cuda(state, device, dtype, &from.tensor, data)
                                               : dml_upload(state, device, dtype, &from);
    }
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
