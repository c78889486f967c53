/* The module dmlops._core: its state, its functions, and what happens at exit. */
#define DML_IMPORTS_NUMPY
#include "py/module.h"

#include "py/device_array.h"
#include "py/device_choice.h"
#include "py/errors.h"
#include "py/explain.h"
#include "py/result_memory.h"
#include "vk/vk.h"

dml_state *dml_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static PyObject *shutdown_vulkan(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    dml_errors_exit();
    /* Waits for calls in flight on other threads, and those need the GIL to return. */
    Py_BEGIN_ALLOW_THREADS;
    dml_vk_shutdown();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *devices(PyObject *module, PyObject *Py_UNUSED(none))
{
    return dml_device_list(dml_state_of(module));
}

static PyObject *default_device(PyObject *module, PyObject *Py_UNUSED(none))
{
    const dml_state *state = dml_state_of(module);
    dml_choice choice;
    return dml_device_default(state, &choice) < 0 ? NULL : dml_device_of(state, &choice);
}

static PyObject *missing(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return dml_device_missing();
}

static PyObject *memory_info(PyObject *module, PyObject *device)
{
    return dml_memory_info(dml_state_of(module), device);
}

/* object, dtype, device, copy */
static PyObject *asarray(PyObject *module, PyObject *args)
{
    PyObject *object, *dtype, *device, *copy;
    if (!PyArg_ParseTuple(args, "OOOO:asarray", &object, &dtype, &device, &copy))
        return NULL;
    return dml_asarray(dml_state_of(module), object, dtype, device, copy);
}

/* shape, dtype, device */
static PyObject *empty(PyObject *module, PyObject *args)
{
    PyObject *shape, *dtype, *device;
    if (!PyArg_ParseTuple(args, "OOO:empty", &shape, &dtype, &device))
        return NULL;
    return dml_empty(dml_state_of(module), shape, dtype, device);
}

/* capsule, device */
static PyObject *from_dlpack(PyObject *module, PyObject *args)
{
    PyObject *capsule, *device;
    if (!PyArg_ParseTuple(args, "OO:from_dlpack", &capsule, &device))
        return NULL;
    return dml_dlpack_import(dml_state_of(module), capsule, device);
}

static PyObject *synchronize(PyObject *module, PyObject *device)
{
    const dml_state *state = dml_state_of(module);
    dml_choice choice = {.host = false, .index = -1}; /* all */
    dml_status status;
    dml_code code = DML_OK;
    dml_context *context;
    if (device != Py_None && dml_device_choose(state, device, &choice) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    if (choice.index < 0 && !choice.host)
        code = dml_vk_wait_all(&status);
    else if (!choice.host && (code = dml_vk_context(choice.index, &context, &status)) == DML_OK)
        code = dml_vk_wait(context, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        return dml_raise(state, &status);
    Py_RETURN_NONE;
}

static PyObject *empty_cache(PyObject *module, PyObject *Py_UNUSED(none))
{
    return dml_memory_empty(dml_state_of(module));
}

/* For tests: take something away from all devices (-1: give it back); see dml_vk_override. */
static PyObject * override(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    long long value;
    if (!PyArg_ParseTuple(args, "sL:_override", &name, &value))
        return NULL;
    if (!dml_vk_override(name, value))
        return PyErr_Format(PyExc_ValueError, "no trait is called %s", name);
    Py_RETURN_NONE;
}

/* Runs the handlers of signals that have come in; true if one raised. */
static bool interrupted(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    bool raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    return raised;
}

/* For tests: how much was given up to a device that may still use it. */
static PyObject *abandoned(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromUnsignedLongLong(dml_vk_abandoned());
}

static int context_of(PyObject *module, PyObject *device, dml_context **context)
{
    const dml_state *state = dml_state_of(module);
    dml_choice choice;
    dml_status status;
    if (dml_device_from(state, device, &choice) < 0)
        return -1;
    if (choice.host) {
        PyErr_SetString(PyExc_ValueError, "device must be a Vulkan device");
        return -1;
    }
    if (!dml_vk_context(choice.index, context, &status))
        return 0;
    dml_raise(state, &status);
    return -1;
}

/* For tests: the pieces that each kernel has run on a device, as (copy, rows, words, elements). */
static PyObject *counts(PyObject *module, PyObject *device)
{
    dml_context *context;
    uint64_t count[DML_KERNEL_COUNT];
    if (context_of(module, device, &context) < 0)
        return NULL;
    dml_vk_counts(context, count);
    return Py_BuildValue("KKKK", (unsigned long long)count[0], (unsigned long long)count[1], (unsigned long long)count[2],
                         (unsigned long long)count[3]);
}

/* For the benchmark: submits one work group that does nothing, and waits for it. */
static PyObject *empty_dispatch(PyObject *module, PyObject *device)
{
    dml_context *context;
    dml_status status;
    dml_code code;
    if (context_of(module, device, &context) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_vk_run_nothing(context, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        return dml_raise(dml_state_of(module), &status);
    Py_RETURN_NONE;
}

/* Atexit rather than the module's own end: the device must be idle before the interpreter takes its threads away, and
 * at that end the driver's library may be gone. Registered once a process, however often the module is imported. */
static int register_shutdown(PyObject *module)
{
    static bool registered;
    if (registered)
        return 0;
    PyObject *function = PyObject_GetAttrString(module, "_shutdown");
    PyObject *atexit = function ? PyImport_ImportModule("atexit") : NULL;
    PyObject *done = atexit ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
    registered = done != NULL;
    Py_XDECREF(done);
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    return registered ? 0 : -1;
}

static PyObject *import_attribute(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *attribute = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return attribute;
}

static int module_exec(PyObject *module)
{
    /* The Vulkan contexts and NumPy's function table belong to the process, the exceptions to one interpreter. */
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "dmlops works in the main interpreter only, not in sub-interpreters");
        return -1;
    }
    if (PyArray_ImportNumPyAPI() < 0)
        return -1;
    dml_state *state = dml_state_of(module);
    state->axis_error = import_attribute("numpy.exceptions", "AxisError");
    state->device_class = import_attribute("dmlops.device", "Device");
    if (!state->axis_error || !state->device_class)
        return -1;
    if (dml_errors_init(state, module) < 0 || dml_memory_init(state) < 0 || dml_device_array_init(state, module) < 0)
        return -1;
    dml_vk_open(interrupted);
    return register_shutdown(module);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    dml_state *state = dml_state_of(module);
    if (!state)
        return 0;
    Py_VISIT(state->vulkan_error);
    Py_VISIT(state->out_of_device_memory_error);
    Py_VISIT(state->device_lost_error);
    Py_VISIT(state->no_device_error);
    Py_VISIT(state->axis_error);
    Py_VISIT(state->device_class);
    Py_VISIT(state->device_array_type);
    Py_VISIT(state->memory_handler);
    return 0;
}

static int module_clear(PyObject *module)
{
    dml_state *state = dml_state_of(module);
    if (!state)
        return 0;
    Py_CLEAR(state->vulkan_error);
    Py_CLEAR(state->out_of_device_memory_error);
    Py_CLEAR(state->device_lost_error);
    Py_CLEAR(state->no_device_error);
    Py_CLEAR(state->axis_error);
    Py_CLEAR(state->device_class);
    Py_CLEAR(state->device_array_type);
    Py_CLEAR(state->memory_handler);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

/* PyMethodDef holds every kind of function as a PyCFunction; by way of void (*)(void) no compiler objects. */
#define DML_FAST(function) ((PyCFunction)(void (*)(void))(function))

/* All are private to the package; only classes are public here. */
static PyMethodDef module_methods[] = {
    {"_reverse_subsequences", DML_FAST(dml_py_reverse_subsequences), METH_FASTCALL, NULL},
    {"_depth_to_space", DML_FAST(dml_py_depth_to_space), METH_FASTCALL, NULL},
    {"_space_to_depth", DML_FAST(dml_py_space_to_depth), METH_FASTCALL, NULL},
    {"_slice", DML_FAST(dml_py_slice), METH_FASTCALL, NULL},
    {"_devices", devices, METH_NOARGS, NULL},
    {"_default_device", default_device, METH_NOARGS, NULL},
    {"_missing", missing, METH_NOARGS, NULL},
    {"_asarray", asarray, METH_VARARGS, NULL},
    {"_empty", empty, METH_VARARGS, NULL},
    {"_from_dlpack", from_dlpack, METH_VARARGS, NULL},
    {"_synchronize", synchronize, METH_O, NULL},
    {"_memory_info", memory_info, METH_O, NULL},
    {"_empty_cache", empty_cache, METH_NOARGS, NULL},
    {"_empty_dispatch", empty_dispatch, METH_O, NULL},
    {"_override", override, METH_VARARGS, NULL},
    {"_explain", dml_py_explain, METH_VARARGS, NULL},
    {"_abandoned", abandoned, METH_NOARGS, NULL},
    {"_counts", counts, METH_O, NULL},
    {"_shutdown", shutdown_vulkan, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "dmlops._core",
    .m_doc = "dmlops in C; the package dmlops has the documented functions.",
    .m_size = sizeof(dml_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_def);
}
