#include "py/device_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "py/arguments.h"
#include "py/errors.h"
#include "py/result_memory.h"
#include "vk/vk.h"

static PyStructSequence_Field device_fields[] = {
    {"index", "place in dmlops.devices()"},
    {"name", "what the device calls itself"},
    {"type", "'discrete', 'integrated', 'virtual', 'cpu', 'other' or 'host'"},
    {"driver", "name and version of its driver"},
    {"api_version", "the Vulkan version it offers, like '1.3.255'; '' for the host"},
    {"memory", "bytes of its largest heap of its own memory; 0 if unknown"},
    {"usable", "whether operators run on it"},
    {"reason", "why it is not usable; else ''"},
    {NULL, NULL},
};

static PyStructSequence_Desc device_desc = {
    .name = "dmlops.Device",
    .doc = "A device that operators can run on; what dmlops.devices() lists and device= takes.",
    .fields = device_fields,
    .n_in_sequence = 8,
};

int dml_device_init(dml_state *state, PyObject *module)
{
    state->device_type = PyStructSequence_NewType(&device_desc);
    return state->device_type ? PyModule_AddObjectRef(module, "Device", (PyObject *)state->device_type) : -1;
}

/* --- the list ------------------------------------------------------------------------------------------------- */

/* The first call loads drivers, and takes its time. */
static int vulkan_count(dml_status *status)
{
    int count;
    status->code = DML_OK;
    status->message[0] = '\0';
    Py_BEGIN_ALLOW_THREADS;
    count = dml_vk_device_count(status);
    Py_END_ALLOW_THREADS;
    return count;
}

/* The host stands behind the usable Vulkan devices; its place is their number. */
static int host_place(int count)
{
    int place = 0;
    while (place < count && dml_vk_device(place)->usable)
        place++;
    return place;
}

/* Drivers choose these texts; whatever bytes they hold, a list of devices comes out. */
static PyObject *text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

/* Device `place` of the list, whose host stands at `host`. */
static PyObject *device_new(const dml_state *state, int place, int host)
{
    PyObject *device = PyStructSequence_New(state->device_type);
    if (!device)
        return NULL;
    PyObject *field[8] = {PyLong_FromLong(place)};
    if (place == host) {
        field[1] = text("host");
        field[2] = text("host");
        field[3] = text("plain C");
        field[4] = text("");
        field[5] = PyLong_FromUnsignedLongLong(dml_memory_of_machine());
        field[6] = PyBool_FromLong(1);
        field[7] = text("");
    } else {
        const dml_device_info *info = dml_vk_device(place < host ? place : place - 1);
        field[1] = text(info->name);
        field[2] = text(info->type);
        field[3] = text(info->driver);
        field[4] =
            PyUnicode_FromFormat("%u.%u.%u", (unsigned)info->api_major, (unsigned)info->api_minor, (unsigned)info->api_patch);
        field[5] = PyLong_FromUnsignedLongLong(info->memory);
        field[6] = PyBool_FromLong(info->usable);
        field[7] = text(info->reason);
    }
    bool complete = true;
    for (int k = 0; k < 8; k++) {
        complete = complete && field[k];
        PyStructSequence_SetItem(device, k, field[k]); /* takes it, also if it is NULL */
    }
    if (!complete)
        Py_CLEAR(device);
    return device;
}

PyObject *dml_device_list(const dml_state *state)
{
    dml_status status;
    int count = vulkan_count(&status), host = host_place(count);
    PyObject *list = PyList_New(count + 1);
    for (int place = 0; list && place <= count; place++) {
        PyObject *device = device_new(state, place, host);
        if (!device || PyList_SetItem(list, place, device) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *dml_device_of(const dml_state *state, const dml_choice *choice)
{
    dml_status status;
    int count = vulkan_count(&status), host = host_place(count);
    if (!choice->host && choice->index >= count) /* of the process before a fork, or at exit */
        return PyErr_Format(PyExc_RuntimeError, "the array's device is there no more");
    return device_new(state, choice->host ? host : choice->index + (choice->index >= host), host);
}

PyObject *dml_device_missing(void)
{
    dml_status status;
    if (vulkan_count(&status) > 0)
        Py_RETURN_NONE;
    return text(status.message);
}

/* --- the choice ----------------------------------------------------------------------------------------------- */

/* Always -1. `asker` is the argument or the environment variable. */
static int unknown_device(const dml_state *state, const char *asker, PyObject *wanted)
{
    PyObject *list = dml_device_list(state), *known = list ? PyUnicode_FromString("") : NULL;
    for (Py_ssize_t k = 0; known && k < PyList_Size(list); k++) {
        PyObject *device = PyList_GetItem(list, k);
        PyUnicode_AppendAndDel(&known, PyUnicode_FromFormat("%s%zd %R", k ? ", " : "", k, PyTuple_GetItem(device, 1)));
    }
    if (known)
        PyErr_Format(PyExc_ValueError, "%s: there is no device %R; there are %U", asker, wanted, known);
    Py_XDECREF(known);
    Py_XDECREF(list);
    return -1;
}

static int choose_place(const dml_state *state, const char *asker, PyObject *wanted, int64_t place, dml_choice *choice)
{
    dml_status status;
    int count = vulkan_count(&status), host = host_place(count);
    if (place < 0 || place > count)
        return unknown_device(state, asker, wanted);
    choice->host = place == host;
    choice->index = (int)(place < host ? place : place - 1);
    if (place <= host)
        return 0;
    const dml_device_info *info = dml_vk_device(choice->index);
    PyErr_Format(PyExc_ValueError, "%s: device %R (%s) is not usable: %s", asker, wanted, info->name, info->reason);
    return -1;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool starts_with(const char *string, const char *start)
{
    while (*start && lower(*string) == lower(*start))
        string++, start++;
    return !*start;
}

static bool contains(const char *string, const char *part)
{
    for (; *string; string++)
        if (starts_with(string, part))
            return true;
    return false;
}

/* `wanted` is `name` as the caller wrote it. The host goes by its whole name only: part of one never means it. */
static int choose_name(const dml_state *state, const char *asker, PyObject *wanted, const char *name, dml_choice *choice)
{
    if (*name && strspn(name, "0123456789") == strlen(name)) {
        errno = 0;
        long long place = strtoll(name, NULL, 10);
        return choose_place(state, asker, wanted, errno ? -1 : place, choice);
    }
    *choice = (dml_choice){.host = true, .index = -1};
    if (starts_with(name, "host") && strlen(name) == 4)
        return 0;
    dml_status status;
    int count = *name ? vulkan_count(&status) : 0;
    for (int index = 0; index < count; index++) /* best first, unusable ones last */
        if (contains(dml_vk_device(index)->name, name))
            return choose_place(state, asker, wanted, index + !dml_vk_device(index)->usable, choice);
    return unknown_device(state, asker, wanted);
}

int dml_device_default(const dml_state *state, dml_choice *choice)
{
    const char *name = getenv("DMLOPS_DEVICE");
    if (name && *name) {
        PyObject *text = PyBytes_FromString(name); /* another thread may set the variable anew */
        PyObject *wanted = text ? PyUnicode_DecodeFSDefault(PyBytes_AsString(text)) : NULL;
        int failed = wanted ? choose_name(state, "DMLOPS_DEVICE", wanted, PyBytes_AsString(text), choice) : -1;
        Py_XDECREF(wanted);
        Py_XDECREF(text);
        return failed;
    }
    dml_status status;
    int count = vulkan_count(&status);
    *choice = (dml_choice){.host = false, .index = 0};
    if (count > 0 && dml_vk_device(0)->usable)
        return 0;
    dml_status failure;
    if (count > 0)
        dml_fail(&failure, DML_NO_DEVICE, "no usable Vulkan device; %.200s: %.200s (device=\"host\" runs without one)",
                 dml_vk_device(0)->name, dml_vk_device(0)->reason);
    else
        dml_fail(&failure, status.code, "%.400s (device=\"host\" runs without a Vulkan device)", status.message);
    dml_raise(state, &failure);
    return -1;
}

static int choose_device(const dml_state *state, PyObject *device, dml_choice *choice)
{
    PyObject *list = dml_device_list(state);
    int same = list ? 0 : -1;
    Py_ssize_t place = 0;
    while (same == 0 && place < PyList_Size(list))
        same = PyObject_RichCompareBool(PyList_GetItem(list, place++), device, Py_EQ);
    Py_XDECREF(list);
    if (same < 0)
        return -1;
    return choose_place(state, "device", device, same ? place - 1 : -1, choice);
}

int dml_device_choose(const dml_state *state, PyObject *object, dml_choice *choice)
{
    if (PyUnicode_Check(object)) {
        const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
        return name ? choose_name(state, "device", object, name, choice) : -1;
    }
    if (PyObject_TypeCheck(object, state->device_type))
        return choose_device(state, object, choice);
    int64_t place;
    if (!dml_is_int(object))
        return dml_type_error("device", "an int, a str, a dmlops.Device or None", object);
    return dml_int_from(object, "device", &place) < 0 ? -1 : choose_place(state, "device", object, place, choice);
}

int dml_device_from(const dml_state *state, PyObject *object, dml_choice *choice)
{
    return object == Py_None ? dml_device_default(state, choice) : dml_device_choose(state, object, choice);
}

const dml_choice dml_host = {.host = true, .index = -1};
