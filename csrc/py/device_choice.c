#include "py/device_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "py/arguments.h"
#include "py/errors.h"
#include "py/event_log.h"
#include "vk/vk.h"

const dml_choice dml_host = {.host = true, .index = -1};

/* --- the list ------------------------------------------------------------------------------------------------- */

/* Looks for drivers, until there are devices: one may be installed meanwhile. */
static int search_drivers(const dml_state *state)
{
    dml_search search = {.alone = false};
    const char *driver, *lavapipe, *variable;
    int loader_first;
    PyObject *found = PyObject_CallNoArgs(state->search_drivers);
    bool read = found && PyArg_ParseTuple(found, "yypy", &driver, &lavapipe, &loader_first, &variable);
    if (read) {
        snprintf(search.driver, sizeof search.driver, "%s", driver);
        snprintf(search.lavapipe, sizeof search.lavapipe, "%s", lavapipe);
        snprintf(search.variable, sizeof search.variable, "%s", variable);
        search.loader_first = loader_first;
        Py_BEGIN_ALLOW_THREADS;
        dml_vk_set_search(&search);
        Py_END_ALLOW_THREADS;
    }
    Py_XDECREF(found);
    return read ? 0 : -1;
}

int dml_device_find(const dml_state *state, int64_t index, dml_device_info *info, bool *known, dml_status *status)
{
    static bool found; /* under the GIL */
    int count;
    status->code = DML_OK;
    status->message[0] = '\0';
    if (!found && search_drivers(state) < 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS;
    count = dml_vk_device_count(status);
    *known = index >= 0 && index < count && dml_vk_device((int)index, info);
    Py_END_ALLOW_THREADS;
    found = count > 0;
    return count;
}

/* The arguments are the fields of dmlops.Device, in their order. */
PyObject *dml_device_new(const dml_state *state, int index, const dml_device_info *info)
{
    PyObject *version = PyUnicode_FromFormat("%u.%u.%u", info->api_major, info->api_minor, info->api_patch);
    return PyObject_CallFunction(state->device_class, "iNsNNKON", index, dml_text(info->name), info->type,
                                 dml_text(info->driver), version, (unsigned long long)info->memory,
                                 info->usable ? Py_True : Py_False, dml_text(info->reason));
}

static PyObject *device_new(const dml_state *state, const dml_choice *choice)
{
    if (choice->host)
        return PyObject_CallFunction(state->device_class, "OssssKOs", Py_None, "host", "host", "plain C", "",
                                     dml_machine_memory(), Py_True, "");
    dml_device_info info;
    dml_device_look(choice->index, &info);
    return dml_device_new(state, choice->index, &info);
}

/* `status` says why there is no Vulkan device, if there is none. */
static PyObject *list_devices(const dml_state *state, dml_status *status)
{
    int count = dml_device_count(state, status);
    PyObject *list = count < 0 ? NULL : PyList_New(count + 1);
    for (int k = 0; list && k <= count; k++) {
        dml_choice choice = {.host = k == count, .index = k};
        PyObject *device = device_new(state, &choice);
        if (!device || PyList_SetItem(list, k, device) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *dml_device_list(PyObject *module, PyObject *Py_UNUSED(none))
{
    dml_status status;
    PyObject *list = list_devices(dml_state_of(module), &status);
    dml_events_log();
    return list ? Py_BuildValue("NN", list, dml_text(status.message)) : NULL;
}

PyObject *dml_device_of(const dml_state *state, const dml_choice *choice)
{
    dml_status status;
    int count = choice->host ? 0 : dml_device_count(state, &status);
    if (count < 0)
        return NULL;
    if (!choice->host && choice->index >= count) /* of the process before a fork, or at exit */
        return PyErr_Format(PyExc_RuntimeError, "the array's device is there no more");
    return device_new(state, choice);
}

/* --- the choice ----------------------------------------------------------------------------------------------- */

static bool choose_usable(const dml_state *state, int64_t index, dml_choice *choice)
{
    dml_status status;
    dml_device_info info;
    bool known;
    if (index < 0 || index >= dml_device_find(state, index, &info, &known, &status))
        return false;
    *choice = (dml_choice){.host = false, .index = (int)index};
    return !known || info.usable; /* without a list, since the process exits: the call says so */
}

/* What dmlops.device.choose finds for `wanted`; `value` is what was written in `source`, the argument "device" or the
 * environment variable. */
static int choose_in_python(const dml_state *state, const char *source, PyObject *value, PyObject *wanted, dml_choice *choice)
{
    dml_status status;
    PyObject *list = list_devices(state, &status);
    PyObject *found =
        list ? PyObject_CallFunction(state->choose_device, "sOONN", source, value, wanted, list, dml_text(status.message))
             : NULL;
    if (!found && status.code == DML_EXITING) {
        PyErr_Clear();
        dml_raise(state, &status); /* uncovered: a fault that only soak injects */
    }
    *choice = dml_host;
    if (found && found != Py_None)
        *choice = (dml_choice){.host = false, .index = (int)PyLong_AsLong(found)};
    Py_XDECREF(found);
    return found ? 0 : -1;
}

/* The host and "auto" are found without a look at the list, which would load drivers. Whether it is one of them. */
static bool choose_host(const char *name, dml_choice *choice)
{
    *choice = dml_host;
    choice->automatic = name && PyOS_stricmp(name, "auto") == 0;
    return choice->automatic || (name && PyOS_stricmp(name, "host") == 0);
}

#define NAMED ", which the call names"

static int choose_name(const dml_state *state, const char *source, PyObject *value, dml_choice *choice)
{
    if (choose_host(PyUnicode_AsUTF8AndSize(value, NULL), choice))
        return 0;
    dml_vk_because(strcmp(source, "device") == 0 ? NAMED : ", which DMLOPS_DEVICE names");
    PyErr_Clear(); /* what UTF-8 cannot hold is no device's name, and is shown as such */
    return choose_in_python(state, source, value, value, choice);
}

static struct {
    bool set;
    dml_choice choice;
} preferred; /* by dml_set_default_device; under the GIL */

static _Thread_local bool host_here; /* by dml_set_host_here */

bool dml_device_default_may_be_host(void)
{
    dml_choice choice;
    return host_here || (preferred.set ? preferred.choice.host : choose_host(getenv("DMLOPS_DEVICE"), &choice));
}

/* Of fused functions, whose arrays are mostly NumPy's: "auto", unless a default was chosen. */
PyObject *dml_automatic_default(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    const char *name = getenv("DMLOPS_DEVICE");
    if (preferred.set || host_here || (name && *name))
        Py_RETURN_NONE;
    return PyUnicode_InternFromString("auto");
}

int dml_device_default(const dml_state *state, dml_choice *choice)
{
    if (preferred.set || host_here) {
        *choice = host_here ? dml_host : preferred.choice;
        if (!choice->host)
            dml_vk_because(", which set_default_device has set");
        if (choice->host || choice->automatic || choose_usable(state, choice->index, choice))
            return 0;
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the default device is there no more; set_default_device chooses another");
        return -1;
    }
    const char *name = getenv("DMLOPS_DEVICE");
    if (name && *name) {
        PyObject *value = PyUnicode_DecodeFSDefault(name);
        int failed = value ? choose_name(state, "DMLOPS_DEVICE", value, choice) : -1;
        Py_XDECREF(value);
        return failed;
    }
    dml_vk_because(", the best one");
    dml_status status, failure;
    dml_device_info best = {.usable = false};
    bool known;
    int count = dml_device_find(state, 0, &best, &known, &status);
    *choice = (dml_choice){.host = false, .index = 0};
    if (count < 0)
        return -1;
    if (count > 0 && (!known || best.usable)) /* as in choose_usable */
        return 0;
    if (count > 0)
        dml_fail(
            &failure, best.no_memory ? DML_NO_MEMORY : DML_NO_DEVICE,
            "no usable Vulkan device; %.180s: %.180s; python -m dmlops says what was found (device=\"host\" runs without one)",
            best.name, best.reason);
    else
        dml_fail(&failure, status.code, "%.425s; python -m dmlops says more (device=\"host\" runs without Vulkan)",
                 status.message);
    dml_raise(state, &failure);
    return -1;
}

int dml_device_named(const dml_state *state, PyObject *object, dml_choice *choice)
{
    int64_t index;
    if (PyUnicode_Check(object))
        return choose_name(state, "device", object, choice);
    dml_vk_because(NAMED);
    if ((PyObject *)Py_TYPE(object) == state->device_class)
        return choose_in_python(state, "device", object, object, choice);
    if (dml_int_among(object, "device", "an int, a str, a dmlops.Device or None", &index) < 0)
        return -1;
    if (choose_usable(state, index, choice))
        return 0;
    if (PyErr_Occurred())
        return -1;
    PyObject *wanted = PyLong_FromLongLong(index);
    int failed = wanted ? choose_in_python(state, "device", object, wanted, choice) : -1;
    Py_XDECREF(wanted);
    return failed;
}

int dml_device_from(const dml_state *state, PyObject *object, dml_choice *choice)
{
    int failed = object == Py_None ? dml_device_default(state, choice) : dml_device_named(state, object, choice);
    return failed ? -1 : dml_device_settle(state, choice);
}

/* --- automatic choices ---------------------------------------------------------------------------------------- */

int dml_device_settle(const dml_state *state, dml_choice *choice)
{
    if (!choice->automatic)
        return 0;
    dml_vk_because(", which \"auto\" has chosen");
    if (!choose_usable(state, 0, choice)) {
        if (PyErr_Occurred())
            return -1; /* the search for drivers failed */
        *choice = dml_host;
    }
    return 0;
}

/* --- the default ---------------------------------------------------------------------------------------------- */

PyObject *dml_default_device(PyObject *module, PyObject *Py_UNUSED(none))
{
    const dml_state *state = dml_state_of(module);
    dml_choice choice;
    if (dml_device_default(state, &choice) < 0)
        return NULL;
    PyObject *automatic = choice.automatic ? Py_True : Py_False;
    PyObject *device = dml_device_settle(state, &choice) < 0 ? NULL : dml_device_of(state, &choice);
    return device ? Py_BuildValue("NO", device, automatic) : NULL;
}

PyObject *dml_may_be_host(PyObject *module, PyObject *object)
{
    dml_choice choice = {.host = dml_device_default_may_be_host()};
    if (object != Py_None && dml_device_named(dml_state_of(module), object, &choice) < 0)
        return NULL;
    return PyBool_FromLong(choice.host);
}

PyObject *dml_set_default_device(PyObject *module, PyObject *object)
{
    dml_choice choice = dml_host;
    if (object != Py_None && dml_device_named(dml_state_of(module), object, &choice) < 0)
        return NULL;
    preferred.set = object != Py_None;
    preferred.choice = choice;
    Py_RETURN_NONE;
}

PyObject *dml_set_host_here(PyObject *Py_UNUSED(module), PyObject *object)
{
    host_here = object == Py_True;
    Py_RETURN_NONE;
}
