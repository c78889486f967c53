/* The module dmlops._core: what Python looks for when it loads the extension. */
#define DML_IMPORTS_NUMPY
#include "py/python.h"

#include "base/blocking.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "kernels/kernel_list.h"
#include "py/call_counts.h"
#include "py/compiled_program.h"
#include "py/device_array.h"
#include "py/device_choice.h"
#include "py/dlpack.h"
#include "py/entry_points.h"
#include "py/errors.h"
#include "py/gil.h"
#include "py/resampling_capsule.h"
#include "py/result_memory.h"
#include "py/transfer.h"
#include "py/views.h"
#include "resampling/weights.h"
#include "vk/vk.h"

static PyObject *shutdown_vulkan(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    dml_errors_exit();
    /* Calls in flight on other threads are waited for, and need the GIL to return. */
    Py_BEGIN_ALLOW_THREADS;
    dml_vk_shutdown();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *synchronize(PyObject *module, PyObject *device)
{
    const dml_state *state = dml_state_of(module);
    bool all = device == Py_None;
    dml_choice choice = dml_host;
    dml_status status;
    dml_code code;
    if (!all && dml_device_from(state, device, &choice) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = all ? dml_vk_wait_all(&status) : dml_backend_of(&choice)->wait(choice.index, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        return dml_raise(state, &status);
    Py_RETURN_NONE;
}

/* For tests: makes all devices look as if they offered less; -1 ends that. See dml_vk_override. */
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

/* Runs the handlers of pending signals; true if one raised. */
static bool interrupted(void)
{
    dml_python python;
    dml_python_begin(&python);
    bool raised = PyErr_CheckSignals() < 0;
    dml_python_end(&python);
    return raised;
}

/* For tests: how many submissions and contexts were abandoned; see dml_vk_abandoned. */
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
    if (dml_backend_of(&choice) != &dml_vulkan_backend) {
        PyErr_SetString(PyExc_ValueError, "device must be a Vulkan device");
        return -1;
    }
    if (!dml_vk_context(choice.index, context, &status))
        return 0;
    dml_raise(state, &status); /* uncovered: a fault that only soak injects */
    return -1;                 /* uncovered: out of memory during the import */
}

/* For tests: the kernels' names. */
static PyObject *kernels(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < DML_KERNEL_COUNT; i++)
        if (dml_append(list, PyUnicode_FromString(dml_kernel_list[i].name)) < 0)
            Py_CLEAR(list);
    return list;
}

/* For tests: how many pieces each of them has run on a device. */
static PyObject *counts(PyObject *module, PyObject *device)
{
    dml_context *context;
    uint64_t count[DML_KERNEL_COUNT];
    if (context_of(module, device, &context) < 0)
        return NULL;
    dml_vk_counts(context, count);
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < DML_KERNEL_COUNT; i++)
        if (dml_append(list, PyLong_FromUnsignedLongLong(count[i])) < 0)
            Py_CLEAR(list);
    return list;
}

/* What the module needs of Python's side: those members of its state that are attributes of other modules. */
static int import_attributes(dml_state *state)
{
    const struct {
        PyObject **member;
        const char *module;
        const char *name;
    } imports[] = {
        {&state->vulkan_error, "dmlops.errors", "VulkanError"},
        {&state->out_of_device_memory_error, "dmlops.errors", "OutOfDeviceMemoryError"},
        {&state->device_lost_error, "dmlops.errors", "DeviceLostError"},
        {&state->no_device_error, "dmlops.errors", "NoDeviceError"},
        {&state->axis_error, "numpy.exceptions", "AxisError"},
        {&state->device_class, "dmlops.device", "Device"},
        {&state->choose_device, "dmlops.device", "choose"},
        {&state->search_drivers, "dmlops.driver_search", "search"},
        {&state->lengths_of, "dmlops.entries", "lengths_of"},
        {&state->negative_length, "dmlops.entries", "negative_length"},
        {&state->wrong_index, "dmlops.entries", "wrong_index"},
        {&state->item_of, "dmlops.scalars", "item_of"},
        {&state->element_of, "dmlops.scalars", "element_of"},
        {&state->dlpack_dtype, "dmlops.dlpack", "dtype_of"},
    };
    for (size_t k = 0; k < sizeof imports / sizeof imports[0]; k++) {
        PyObject *module = PyImport_ImportModule(imports[k].module);
        *imports[k].member = module ? PyObject_GetAttrString(module, imports[k].name) : NULL;
        Py_XDECREF(module);
        if (!*imports[k].member)
            return -1;
    }
    return 0;
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
    if (dml_call_counts_init(module) < 0 || import_attributes(state) < 0 || dml_memory_init(state) < 0 ||
        dml_device_type_init(state, module) < 0)
        return -1; /* uncovered: the import runs out of memory */
    dml_parallel_open();
    dml_weights_open();
    dml_blocking_init(dml_gil_release);
    dml_interrupt_init(interrupted);
    dml_vk_open();
    return 0;
}

enum { STATE_MEMBERS = sizeof(dml_state) / sizeof(PyObject *) };

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    PyObject **members = PyModule_GetState(module);
    for (int k = 0; members && k < STATE_MEMBERS; k++)
        Py_VISIT(members[k]);
    return 0;
}

static int module_clear(PyObject *module)
{
    PyObject **members = PyModule_GetState(module);
    for (int k = 0; members && k < STATE_MEMBERS; k++)
        Py_CLEAR(members[k]);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

/* PyMethodDef holds every kind of function as a PyCFunction; compilers accept the cast through void (*)(void) without a
 * warning. */
#define DML_FAST(function) ((PyCFunction)(void (*)(void))(function))

#define DML_OPERATOR_METHOD(name) {"_" #name, DML_FAST(dml_py_##name), METH_FASTCALL, NULL},

/* All are private to the package; only classes are public here. */
static PyMethodDef module_methods[] = {
    DML_OPERATORS(DML_OPERATOR_METHOD){"_devices", dml_device_list, METH_NOARGS, NULL},
    {"_automatic_default", dml_automatic_default, METH_NOARGS, NULL},
    {"_default_device", dml_default_device, METH_NOARGS, NULL},
    {"_set_default_device", dml_set_default_device, METH_O, NULL},
    {"_set_host_here", dml_set_host_here, METH_O, NULL},
    {"_may_be_host", dml_may_be_host, METH_O, NULL},
    {"_ways", dml_ways, METH_NOARGS, NULL},
    {"_probe_driver", dml_probe_driver, METH_O, NULL},
    {"_compile", dml_compile, METH_VARARGS, NULL},
    {"_compiled_steps", dml_compiled_steps, METH_VARARGS, NULL},
    {"_run_compiled", DML_FAST(dml_run_compiled), METH_FASTCALL, NULL},
    {"_resample", DML_FAST(dml_resample), METH_FASTCALL, NULL},
    {"_with_alpha", dml_with_alpha, METH_VARARGS, NULL},
    {"_resize_kernels", dml_resize_kernels, METH_NOARGS, NULL},
    {"_resize_by", dml_resize_by, METH_O, NULL},
    {"_resampling", dml_resampling_new, METH_VARARGS, NULL},
    {"_resampling_described", dml_resampling_described, METH_O, NULL},
    {"_asarray", dml_asarray, METH_VARARGS, NULL},
    {"_empty", dml_empty, METH_VARARGS, NULL},
    {"_dlpack_places", dml_dlpack_places, METH_O, NULL},
    {"_dlpack", dml_dlpack_export, METH_VARARGS, NULL},
    {"_dlpack_cuda", dml_dlpack_cuda, METH_O, NULL},
    {"_from_dlpack", dml_dlpack_import, METH_VARARGS, NULL},
    {"_view", dml_view_by, METH_VARARGS, NULL},
    {"_shape", dml_shape, METH_O, NULL},
    {"_synchronize", synchronize, METH_O, NULL},
    {"_memory_info", dml_memory_info, METH_O, NULL},
    {"_empty_cache", dml_empty_cache, METH_NOARGS, NULL},
    {"_counters", dml_counters_list, METH_NOARGS, NULL},
    {"_row", dml_row_number, METH_O, NULL},
    {"_count_programs", dml_count_programs, METH_VARARGS, NULL},
    {"_override", override, METH_VARARGS, NULL},
    {"_play_memory", dml_play_memory, METH_VARARGS, NULL},
    {"_abandoned", abandoned, METH_NOARGS, NULL},
    {"_kernels", kernels, METH_NOARGS, NULL},
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
