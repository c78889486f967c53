/* DLPack, the standard by which libraries pass arrays to each other, version 1.1: https://dmlc.github.io/dlpack/latest/
 *
 * A capsule that nobody took frees what it holds. What another library took is freed by it, on any thread, with the GIL or
 * without, maybe after the interpreter's end: so it holds a allocation, and nothing of Python's. */
#include "py/device_array.h"

#include <stdlib.h>
#include <string.h>

#include "py/arrays.h"
#include "py/errors.h"

enum { DL_CPU = 1, DL_VULKAN = 7 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_COMPLEX, DL_BOOL };
enum { DL_READ_ONLY = 1, DL_COPIED = 2 };

typedef struct dl_device {
    int32_t type;
    int32_t index;
} dl_device;

typedef struct dl_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type type;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: C-contiguous */
    uint64_t byte_offset;
} dl_tensor;

/* What old capsules hold, and new ones. */
typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

static const char old_name[] = "dltensor", new_name[] = "dltensor_versioned";
static const char old_used[] = "used_dltensor", new_used[] = "used_dltensor_versioned";

/* The types that NumPy has by ml_dtypes, as that calls them. */
static const struct {
    const char *name;
    uint8_t code;
    uint8_t bits;
} other_types[] = {
    {"bfloat16", DL_BFLOAT, 16},  {"float8_e3m4", 7, 8},      {"float8_e4m3", 8, 8},
    {"float8_e4m3b11fnuz", 9, 8}, {"float8_e4m3fn", 10, 8},   {"float8_e4m3fnuz", 11, 8},
    {"float8_e5m2", 12, 8},       {"float8_e5m2fnuz", 13, 8}, {"float8_e8m0fnu", 14, 8},
};
enum { OTHER_TYPES = sizeof other_types / sizeof other_types[0] };

/* --- export ------------------------------------------------------------------------------------------------------ */

/* Everything that one export has to keep; one block of memory. */
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
    if (PyCapsule_IsValid(capsule, old_name)) {
        dl_managed *managed = PyCapsule_GetPointer(capsule, old_name);
        managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, new_name)) {
        dl_versioned *versioned = PyCapsule_GetPointer(capsule, new_name);
        versioned->deleter(versioned);
    }
}

static int type_of_dtype(PyArray_Descr *dtype, dl_type *type)
{
    static const char kinds[] = "iufbc";
    static const uint8_t codes[] = {DL_INT, DL_UINT, DL_FLOAT, DL_BOOL, DL_COMPLEX};
    int item = (int)PyDataType_ELSIZE(dtype);
    const char *kind = PyTypeNum_ISUSERDEF(dtype->type_num) ? NULL : strchr(kinds, dtype->kind);
    *type = (dl_type){.bits = (uint8_t)(8 * item), .lanes = 1};
    bool known = kind && *kind && item <= (dtype->kind == 'c' ? 16 : 8);
    if (known)
        type->code = codes[kind - kinds];
    if (PyTypeNum_ISUSERDEF(dtype->type_num)) {
        PyObject *name = PyObject_GetAttrString((PyObject *)dtype, "name");
        for (int i = 0; name && i < OTHER_TYPES && !known; i++) {
            known = PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, other_types[i].name) == 0;
            type->code = other_types[i].code;
        }
        Py_XDECREF(name);
        if (!name)
            return -1;
    }
    if (known && PyArray_ISNBO(dtype->byteorder))
        return 0;
    PyErr_Format(PyExc_BufferError, "DLPack has no elements of dtype %S", (PyObject *)dtype);
    return -1;
}

/* Takes the allocation, also if it fails. `tensor` is that of an array whose item has `type`. */
static PyObject *new_capsule(dml_allocation *allocation, void *data, uint64_t offset, const dml_tensor *tensor, dl_type type,
                             dl_device device, bool versioned, bool copied)
{
    dl_export *export = calloc(1, sizeof *export);
    if (!export) {
        dml_allocation_release(allocation);
        return PyErr_NoMemory();
    }
    export->allocation = allocation;
    for (int k = 0; k < tensor->rank; k++) {
        export->shape[k] = tensor->shape[k];
        export->strides[k] = tensor->strides[k] / tensor->item; /* without rest: views are of whole elements */
    }
    dl_tensor filled = {data, device, tensor->rank, type, export->shape, export->strides, offset};
    if (versioned)
        export->as.versioned = (dl_versioned){1, 1, export, delete_versioned, copied ? DL_COPIED : 0, filled};
    else
        export->as.managed = (dl_managed){filled, export, delete_managed};
    PyObject *capsule = PyCapsule_New(&export->as, versioned ? new_name : old_name, capsule_destroyed);
    if (!capsule)
        free_export(export);
    return capsule;
}

/* What the caller of __dlpack__ wants. */
typedef struct request {
    bool versioned;
    bool cpu; /* memory of the host; else of the array's own device */
    int copy; /* 0, 1, or -1: as need be */
} request;

static dl_device own_device(const dml_device_array *array)
{
    return array->device.host ? (dl_device){DL_CPU, 0} : (dl_device){DL_VULKAN, array->device.index};
}

/* A tuple of two ints, or None, which leaves them alone. */
static int pair_from(PyObject *object, const char *name, int *first, int *second)
{
    if (object == Py_None)
        return 0;
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2)
        return dml_type_error(name, "a tuple of two ints or None", object);
    return PyArg_ParseTuple(object, "ii", first, second) ? 0 : -1;
}

static int read_request(const dml_device_array *array, PyObject *args, PyObject *kwargs, request *wanted)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return -1;
    if (stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "stream must be None: these devices have no streams");
        return -1;
    }
    int major = 0, minor = 0;
    dl_device own = own_device(array), asked = own;
    if (pair_from(version, "max_version", &major, &minor) < 0 || pair_from(device, "dl_device", &asked.type, &asked.index) < 0)
        return -1;
    wanted->versioned = major >= 1;
    wanted->cpu = asked.type == DL_CPU;
    wanted->copy = copy == Py_None ? -1 : PyObject_IsTrue(copy);
    if (wanted->copy < 0 && copy != Py_None)
        return -1;
    if ((asked.type == own.type && asked.index == own.index) || (wanted->cpu && asked.index == 0))
        return 0;
    PyErr_Format(PyExc_BufferError, "dl_device must be (%d, %d), where the array is, or (1, 0), the CPU; not (%d, %d)",
                 own.type, own.index, asked.type, asked.index);
    return -1;
}

PyObject *dml_dlpack_export(PyObject *self, PyObject *args, PyObject *kwargs)
{
    dml_state *state = PyType_GetModuleState(Py_TYPE(self));
    dml_device_array *array = (dml_device_array *)self;
    request wanted;
    dl_type type;
    if (read_request(array, args, kwargs, &wanted) < 0 || type_of_dtype(array->dtype, &type) < 0)
        return NULL;
    bool shared = !wanted.cpu || dml_allocation_data(array->allocation);
    if (!shared && wanted.copy == 0)
        return PyErr_Format(PyExc_BufferError, "copy must not be False: the host does not see the device's memory");
    bool copied = !shared || wanted.copy == 1;
    if (copied)
        array = (dml_device_array *)dml_device_array_copy(state, array, wanted.cpu ? &dml_host : &array->device);
    else
        Py_INCREF(self);
    if (!array || dml_device_array_wait(state, array) < 0) {
        Py_XDECREF((PyObject *)array);
        return NULL;
    }
    dml_allocation_retain(array->allocation);
    dml_allocation_expose(array->allocation);
    void *data = wanted.cpu ? (char *)dml_allocation_data(array->allocation) + array->offset
                            : (void *)(uintptr_t)dml_allocation_handles(array->allocation);
    PyObject *capsule = new_capsule(array->allocation, data, wanted.cpu ? 0 : (uint64_t)array->offset, &array->tensor, type,
                                    wanted.cpu ? (dl_device){DL_CPU, 0} : own_device(array), wanted.versioned, copied);
    Py_DECREF((PyObject *)array);
    return capsule;
}

PyObject *dml_dlpack_device(PyObject *self, PyObject *Py_UNUSED(none))
{
    dl_device device = own_device((dml_device_array *)self);
    return Py_BuildValue("ii", device.type, device.index);
}

/* --- import ------------------------------------------------------------------------------------------------------ */

static PyArray_Descr *dtype_of_name(const char *name)
{
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    if (!module) {
        if (PyErr_ExceptionMatches(PyExc_ImportError))
            PyErr_Format(PyExc_BufferError, "elements of type %s need the package ml_dtypes", name);
        return NULL;
    }
    PyObject *type = PyObject_GetAttrString(module, name);
    PyArray_Descr *dtype = NULL;
    if (!type || !PyArray_DescrConverter(type, &dtype)) {
        PyErr_Format(PyExc_BufferError, "this ml_dtypes has no %s", name);
        dtype = NULL;
    }
    Py_XDECREF(type);
    Py_DECREF(module);
    return dtype;
}

/* A new reference, or NULL with a BufferError set. */
static PyArray_Descr *dtype_of_type(dl_type type)
{
    static const struct {
        uint8_t code;
        char kind;
        uint8_t most, least; /* bits */
    } numbers[] = {
        {DL_INT, 'i', 64, 8}, {DL_UINT, 'u', 64, 8}, {DL_FLOAT, 'f', 64, 16}, {DL_COMPLEX, 'c', 128, 64}, {DL_BOOL, 'b', 8, 8}};
    for (size_t i = 0; type.lanes == 1 && i < sizeof numbers / sizeof numbers[0]; i++) {
        bool power = (type.bits & (type.bits - 1)) == 0;
        if (type.code != numbers[i].code || !power || type.bits > numbers[i].most || type.bits < numbers[i].least)
            continue;
        char code[8];
        PyArray_Descr *dtype = NULL;
        PyOS_snprintf(code, sizeof code, "%c%d", numbers[i].kind, type.bits / 8);
        PyObject *name = PyUnicode_FromString(code);
        if (!name || !PyArray_DescrConverter(name, &dtype))
            dtype = NULL;
        Py_XDECREF(name);
        return dtype;
    }
    for (int i = 0; type.lanes == 1 && i < OTHER_TYPES; i++)
        if (type.code == other_types[i].code && type.bits == other_types[i].bits)
            return dtype_of_name(other_types[i].name);
    PyErr_Format(PyExc_BufferError, "NumPy has no dtype for DLPack's type code %d of %d bits and %d lanes", type.code,
                 type.bits, type.lanes);
    return NULL;
}

/* `capsule` is what `from` is in. */
static PyObject *array_of(dml_state *state, PyObject *capsule, const dl_tensor *from, bool read_only, const dml_choice *device)
{
    if (from->device.type != DL_CPU)
        return PyErr_Format(PyExc_BufferError,
                            "only tensors in the CPU's memory can be read, not those of DLPack's device type %d",
                            (int)from->device.type);
    if (from->ndim < 0 || from->ndim > DML_MAX_RANK)
        return PyErr_Format(PyExc_BufferError, "a tensor must have at most %d axes, not %d", DML_MAX_RANK, (int)from->ndim);
    for (int k = 0; k < from->ndim; k++)
        if (from->shape[k] < 0)
            return PyErr_Format(PyExc_BufferError, "a tensor must not have negative sizes; that of axis %d is %lld", k,
                                (long long)from->shape[k]);
    PyArray_Descr *dtype = dtype_of_type(from->type);
    if (!dtype)
        return NULL;
    dml_endpoint end = {.owner = capsule, .place = {.data = (char *)from->data + from->byte_offset, .read_only = read_only}};
    end.tensor.rank = from->ndim;
    end.tensor.item = (int64_t)PyDataType_ELSIZE(dtype);
    for (int k = 0; k < from->ndim; k++)
        end.tensor.shape[k] = from->shape[k];
    dml_tensor_pack(&end.tensor);
    for (int k = 0; from->strides && k < from->ndim; k++)
        end.tensor.strides[k] = from->strides[k] * end.tensor.item;
    PyObject *array = dml_upload(state, device, dtype, &end);
    Py_DECREF((PyObject *)dtype);
    return array;
}

/* A capsule is taken before anything else can run, so that nobody else takes it, too; it is given back where that fails. */
static PyObject *take_capsule(dml_state *state, PyObject *capsule, const char *name, const char *used, const dl_tensor *tensor,
                              bool read_only, const dml_choice *device)
{
    if (PyCapsule_SetName(capsule, used) < 0)
        return NULL;
    PyObject *array = array_of(state, capsule, tensor, read_only, device);
    if (!array)
        PyCapsule_SetName(capsule, name);
    return array;
}

PyObject *dml_dlpack_import(dml_state *state, PyObject *capsule, PyObject *device_object)
{
    dml_choice device;
    if (dml_device_from(state, device_object, &device) < 0)
        return NULL;
    if (PyCapsule_IsValid(capsule, new_name)) {
        dl_versioned *versioned = PyCapsule_GetPointer(capsule, new_name);
        if (versioned->major != 1)
            return PyErr_Format(PyExc_BufferError, "this is a tensor of DLPack %u, not of DLPack 1",
                                (unsigned)versioned->major);
        bool read_only = versioned->flags & DL_READ_ONLY;
        PyObject *array = take_capsule(state, capsule, new_name, new_used, &versioned->tensor, read_only, &device);
        if (array && versioned->deleter)
            versioned->deleter(versioned);
        return array;
    }
    if (!PyCapsule_IsValid(capsule, old_name))
        return PyErr_Format(PyExc_TypeError, "__dlpack__ must give a fresh DLPack capsule");
    dl_managed *managed = PyCapsule_GetPointer(capsule, old_name);
    PyObject *array = take_capsule(state, capsule, old_name, old_used, &managed->tensor, false, &device);
    if (array && managed->deleter)
        managed->deleter(managed);
    return array;
}
