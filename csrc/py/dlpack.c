#include "py/dlpack.h"

#include <stdarg.h>
#include <stdlib.h>

#include "py/backend.h"
#include "py/device_array.h"
#include "py/errors.h"
#include "py/shapes.h"
#include "py/transfer.h"

/* --- export ------------------------------------------------------------------------------------------------------ */

PyObject *dml_dlpack_places(PyObject *module, PyObject *object)
{
    const dml_device_array *array = (dml_device_array *)object;
    if (!dml_is_device_array(dml_state_of(module), object))
        return PyErr_Format(PyExc_TypeError, "__dlpack__ and __dlpack_device__ are methods of dmlops.DeviceArray");
    int type = dml_backend_of(&array->device)->dlpack_type, index = type == DL_CPU ? 0 : array->device.index;
    return Py_BuildValue("(ii)N", type, index, PyBool_FromLong(dml_allocation_data(array->allocation) != NULL));
}

/* What a capsule points to: one block of memory, freed by the deleter. The consumer may call that on any thread, with the GIL
 * or without, even after the interpreter's end, so it holds nothing of Python's. A capsule that is never consumed calls it
 * itself. */
typedef struct dl_export {
    union {
        dl_managed managed;
        dl_versioned versioned;
    } as;
    dml_allocation *allocation;
    int64_t shape[DML_MAX_RANK];
    int64_t strides[DML_MAX_RANK];
} dl_export;

static void free_export(dl_export *export)
{
    dml_allocation_release(export->allocation);
    free(export);
}

static void delete_managed(dl_managed *managed)
{
    free_export(managed->context);
}

static void delete_versioned(dl_versioned *versioned)
{
    free_export(versioned->context);
}

static void capsule_destroyed(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, DL_NAME))
        delete_managed(PyCapsule_GetPointer(capsule, DL_NAME));
    else if (PyCapsule_IsValid(capsule, DL_VERSIONED_NAME))
        delete_versioned(PyCapsule_GetPointer(capsule, DL_VERSIONED_NAME));
}

/* The strides in elements. Those that no element is reached by are those of a C-contiguous array: never negative. */
static void export_strides(const dml_tensor *tensor, int64_t *strides)
{
    int64_t packed = 1;
    bool empty = dml_tensor_is_empty(tensor);
    for (int k = tensor->rank - 1; k >= 0; k--) {
        strides[k] =
            empty || tensor->shape[k] == 1 ? packed : tensor->strides[k] / tensor->item; /* views are of whole elements */
        packed *= tensor->shape[k] > 0 ? tensor->shape[k] : 1;
    }
}

PyObject *dml_dlpack_export(PyObject *module, PyObject *args)
{
    dml_state *state = dml_state_of(module);
    dml_device_array *array;
    dl_type type = {.lanes = 1};
    dl_device device;
    int versioned, copied;
    if (!PyArg_ParseTuple(args, "O!(bb)(ii)pp:_dlpack", (PyTypeObject *)state->device_array_type, &array, &type.code,
                          &type.bits, &device.type, &device.index, &versioned, &copied) ||
        dml_device_array_wait(state, array) < 0)
        return NULL;
    dl_export *export = calloc(1, sizeof *export);
    if (!export)
        return PyErr_NoMemory();
    export->allocation = array->allocation;
    dml_allocation_retain(array->allocation);
    dml_allocation_expose(array->allocation);
    dl_tensor tensor = {
        .device = device, .ndim = array->tensor.rank, .type = type, .shape = export->shape, .strides = export->strides};
    for (int k = 0; k < tensor.ndim; k++)
        export->shape[k] = array->tensor.shape[k];
    export_strides(&array->tensor, export->strides);
    if (device.type == DL_CPU) {
        tensor.data = (char *)dml_allocation_data(array->allocation) + array->offset;
    } else {
        tensor.data = (void *)(uintptr_t)dml_allocation_handles(array->allocation);
        if (!dml_tensor_is_empty(&array->tensor))
            tensor.byte_offset = dml_allocation_offset(array->allocation) + (uint64_t)array->offset;
    }
    if (versioned)
        export->as.versioned = (dl_versioned){1, 1, export, delete_versioned, copied ? DL_COPIED : 0, tensor};
    else
        export->as.managed = (dl_managed){tensor, export, delete_managed};
    PyObject *capsule = PyCapsule_New(&export->as, versioned ? DL_VERSIONED_NAME : DL_NAME, capsule_destroyed);
    if (!capsule)
        free_export(export);
    return capsule;
}

/* --- import ----------------------------------------------------------------------------------------------------- */

static int refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(PyExc_BufferError, format, arguments);
    va_end(arguments);
    return -1;
}

/* Whether a tensor of the host's can be read: 0, or -1 with a BufferError set. */
static int check_shape(const dl_tensor *tensor)
{
    if (tensor->device.type != DL_CPU)
        return refuse("only tensors in the CPU's memory can be read, not those of DLPack's device type %d",
                      (int)tensor->device.type);
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

/* `capsule` owns `tensor`. */
static PyObject *copy_tensor(dml_state *state, PyObject *capsule, const dl_tensor *tensor, bool read_only,
                             const dml_choice *device)
{
    if (check_shape(tensor) < 0)
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
        array = dml_upload(state, device, dtype, &from);
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
