#include "py/dlpack.h"

#include <stdlib.h>

#include "device/backend.h"
#include "py/arrays.h"
#include "py/device_array.h"
#include "py/errors.h"

PyObject *dml_dlpack_places(PyObject *module, PyObject *object)
{
    const dml_device_array *array = (dml_device_array *)object;
    if (!dml_is_device_array(dml_state_of(module), object))
        return PyErr_Format(PyExc_TypeError, "__dlpack__ and __dlpack_device__ are methods of dmlops.DeviceArray");
    int type = array->device.host ? DL_CPU : DL_VULKAN, index = type == DL_CPU ? 0 : array->device.index, ordinal;
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS; /* CUDA may have to be opened */
    code = dml_cuda_of_allocation(array->allocation, &ordinal, &status);
    Py_END_ALLOW_THREADS;
    PyObject *cuda = code ? dml_text(status.message) : PyLong_FromLong(ordinal);
    return Py_BuildValue("(ii)NN", type, index, cuda, PyBool_FromLong(array->allocation->data != NULL));
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
    bool lent; /* to CUDA */
    int64_t shape[DML_MAX_RANK];
    int64_t strides[DML_MAX_RANK];
} dl_export;

static void free_export(dl_export *export)
{
    if (export->lent)
        dml_cuda_return(export->allocation);
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

/* Where CUDA sees the array's first element, until the export is freed. 0, or -1 with an exception set. */
static int lend(const dml_state *state, const dml_device_array *array, uint64_t stream, dl_export *export, void **data)
{
    unsigned long long address = 0;
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_cuda_lend(array->allocation, stream, &address, &status);
    Py_END_ALLOW_THREADS;
    export->lent = !code;
    *data = (void *)(uintptr_t)(address + (uint64_t)array->offset);
    if (code)
        dml_raise(state, &status);
    return code ? -1 : 0;
}

PyObject *dml_dlpack_export(PyObject *module, PyObject *args)
{
    dml_state *state = dml_state_of(module);
    dml_device_array *array;
    dl_type type = {.lanes = 1};
    dl_device device;
    int versioned, copied;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "O!(bb)(ii)ppK:_dlpack", (PyTypeObject *)state->device_array_type, &array, &type.code,
                          &type.bits, &device.type, &device.index, &versioned, &copied, &stream) ||
        (device.type != DL_CUDA && dml_device_array_wait(state, array) < 0))
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
    if (device.type == DL_CUDA && lend(state, array, stream, export, &tensor.data) < 0) {
        free_export(export);
        return NULL;
    }
    if (device.type == DL_CPU) {
        tensor.data = (char *)array->allocation->data + array->offset;
    } else if (device.type == DL_VULKAN) {
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
