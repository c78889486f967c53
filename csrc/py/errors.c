#include "py/errors.h"

#include <string.h>

#include "base/events.h"
#include "base/machine.h"
#include "py/event_log.h"
#include "vk/vk.h"

PyObject *dml_text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

static PyObject *class_of(const dml_state *state, dml_code code)
{
    switch (code) {
    case DML_OUT_OF_DEVICE_MEMORY:
        return state->out_of_device_memory_error;
    case DML_DEVICE_LOST:
        return state->device_lost_error;
    case DML_NO_DEVICE:
    case DML_EXITING:
        return state->no_device_error;
    case DML_VULKAN_ERROR:
        return state->vulkan_error;
    case DML_NO_MEMORY:
        return PyExc_MemoryError;
    case DML_CUDA_ERROR:
        return PyExc_BufferError;
    case DML_INDEX_ERROR:
        return PyExc_IndexError;
    default:
        return PyExc_ValueError;
    }
}

/* An exception with the text, which may hold the name of a driver, and of a Vulkan error with the name of its VkResult. */
static PyObject *new_error(const dml_state *state, const dml_status *status)
{
    if (status->code == DML_AXIS_ERROR)
        return PyObject_CallFunction(state->axis_error, "Lis", status->axis, status->rank, status->message);
    PyObject *error = PyObject_CallFunction(class_of(state, status->code), "N", dml_text(status->message));
    const char *name = status->code == DML_NO_MEMORY ? NULL : dml_vk_result_name(status->result); /* a MemoryError has none */
    PyObject *result = error && name ? PyUnicode_FromString(name) : NULL;
    if (error && name && (!result || PyObject_SetAttrString(error, "result", result) < 0))
        Py_CLEAR(error); /* uncovered: out of memory while an error is raised */
    Py_XDECREF(result);
    return error;
}

/* Steals the exception; NULL where one is set already. */
static void raise_error(PyObject *error)
{
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
}

static unsigned long exiting_thread;

void dml_errors_exit(void)
{
    exiting_thread = PyThread_get_thread_ident();
}

/* Daemon threads that call while the interpreter exits sleep until they are ended, ten seconds at most: a traceback written
 * while the streams are torn down can abort the process. */
static void sleep_at_exit(void)
{
    if (PyThread_get_thread_ident() == exiting_thread)
        return;
    Py_BEGIN_ALLOW_THREADS;
    dml_sleep(10000);
    Py_END_ALLOW_THREADS; /* uncovered: a daemon thread ends with the process while it sleeps */
}

PyObject *dml_raise(const dml_state *state, const dml_status *status)
{
    if (status->code == DML_EXITING)
        sleep_at_exit();
    if (!PyErr_Occurred()) /* else raised by Python code or by a signal's handler, before the failure in `status` */
        raise_error(new_error(state, status));
    if (status->in_use)
        dml_event_add(DML_EVENT_WARNING, "abandoned a submission, which may still use its memory: %.200s", status->message);
    if (status->code != DML_EXITING)
        dml_events_log();
    return NULL;
}

/* Raises what a function of dmlops.refused_arrays makes of arguments, a tuple that is stolen. */
static void raise_refusal(const char *function, PyObject *arguments)
{
    PyObject *module = PyImport_ImportModule("dmlops.refused_arrays");
    PyObject *make = module ? PyObject_GetAttrString(module, function) : NULL;
    raise_error(make && arguments ? PyObject_CallObject(make, arguments) : NULL);
    Py_XDECREF(make);
    Py_XDECREF(module);
    Py_XDECREF(arguments);
}

void dml_no_array(const char *name, PyObject *object)
{
    PyObject *type, *cause, *traceback;
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    if (type != PyExc_ValueError && type != PyExc_TypeError) { /* raised by an __array__ method, for example */
        PyErr_Restore(type, cause, traceback);
        return;
    }
    if (traceback)
        PyException_SetTraceback(cause, traceback);
    raise_refusal("no_array", Py_BuildValue("(sOO)", name, object, cause));
    Py_XDECREF(traceback);
    Py_DECREF(cause);
    Py_DECREF(type);
}

bool dml_refuse_lazy(const char *name, PyObject *object)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
    const char *package = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    bool lazy = package && (strncmp(package, "dask.", 5) == 0 || strncmp(package, "zarr.", 5) == 0);
    PyErr_Clear();
    Py_XDECREF(module);
    if (lazy)
        raise_refusal("lazy", Py_BuildValue("(sO)", name, object));
    return lazy;
}

void dml_not_plain(const char *name, PyObject *object)
{
    raise_refusal("not_plain", Py_BuildValue("(sO)", name, object));
}

int dml_type_error(const char *name, const char *wanted, PyObject *found)
{
    PyObject *type = PyType_GetName(Py_TYPE(found)); /* runs no Python code: an exception may be set already */
    if (type)
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", name, wanted, type);
    Py_XDECREF(type);
    return -1;
}
