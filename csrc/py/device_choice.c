#include "py/device_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine_memory.h"
#include "py/arguments.h"
#include "py/errors.h"
#include "vk/vk.h"

const dml_choice dml_host = {.host = true, .index = -1};

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

/* Drivers choose these texts; whatever bytes they hold, a list of devices comes out. */
static PyObject *text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

/* The arguments are the fields of dmlops.Device, in their order. */
static PyObject *device_new(const dml_state *state, const dml_choice *choice)
{
    if (choice->host)
        return PyObject_CallFunction(state->device_class, "OssssKOs", Py_None, "host", "host", "plain C", "",
                                     dml_machine_memory(), Py_True, "");
    const dml_device_info *info = dml_vk_device(choice->index);
    char version[40];
    snprintf(version, sizeof version, "%u.%u.%u", (unsigned)info->api_major, (unsigned)info->api_minor,
             (unsigned)info->api_patch);
    return PyObject_CallFunction(state->device_class, "iNsNsKON", choice->index, text(info->name), info->type,
                                 text(info->driver), version, (unsigned long long)info->memory,
                                 info->usable ? Py_True : Py_False, text(info->reason));
}

PyObject *dml_device_list(const dml_state *state)
{
    dml_status status;
    int count = vulkan_count(&status);
    PyObject *list = PyList_New(count + 1);
    for (int k = 0; list && k <= count; k++) {
        dml_choice choice = {.host = k == count, .index = k};
        PyObject *device = device_new(state, &choice);
        if (!device || PyList_SetItem(list, k, device) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *dml_device_of(const dml_state *state, const dml_choice *choice)
{
    dml_status status;
    if (!choice->host && choice->index >= vulkan_count(&status)) /* of the process before a fork, or at exit */
        return PyErr_Format(PyExc_RuntimeError, "the array's device is there no more");
    return device_new(state, choice);
}

PyObject *dml_device_missing(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    dml_status status;
    if (vulkan_count(&status) > 0)
        Py_RETURN_NONE;
    return text(status.message);
}

/* --- the choice ----------------------------------------------------------------------------------------------- */

/* What a caller asked for: `value` is what was written in `source`, the argument "device" or the environment variable. */
typedef struct request {
    const dml_state *state;
    const char *source;
    PyObject *value;
} request;

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

static bool equal(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && starts_with(a, b);
}

static bool has_name(const dml_device_info *info, const char *name)
{
    return equal(info->name, name);
}

static bool has_in_name(const dml_device_info *info, const char *part)
{
    for (const char *rest = info->name; *rest && *part; rest++)
        if (starts_with(rest, part))
            return true;
    return false;
}

/* Always -1, with NoDeviceError: there is no Vulkan device at all, and `status` says why. */
static int no_vulkan(const request *asked, const dml_status *status)
{
    const char *host = strcmp(asked->source, "device") == 0 ? "device=\"host\"" : "DMLOPS_DEVICE=host";
    if (status->code == DML_EXITING)
        dml_raise(asked->state, status);
    else
        PyErr_Format(asked->state->no_device_error, "%s=%R: %s (%s runs without Vulkan)", asked->source, asked->value,
                     status->message, host);
    return -1;
}

/* Always -1, with ValueError that lists devices: none fits, or the names of several contain `part`, which is NULL otherwise. */
static int not_one_device(const request *asked, const char *part)
{
    dml_status status;
    int count = vulkan_count(&status);
    if (count == 0)
        return no_vulkan(asked, &status);
    PyObject *list = PyUnicode_FromString("");
    for (int k = 0; list && k < count; k++) {
        const dml_device_info *info = dml_vk_device(k);
        if (!part || (info->usable && has_in_name(info, part)))
            PyUnicode_AppendAndDel(
                &list, PyUnicode_FromFormat("%d = '%s' (%s), ", k, info->name, info->usable ? info->type : "not usable"));
    }
    if (list && part)
        PyErr_Format(PyExc_ValueError, "%s=%R matches several devices: %Uchoose one by its number or whole name", asked->source,
                     asked->value, list);
    else if (list)
        PyErr_Format(PyExc_ValueError, "%s=%R matches no device; choose one of: %U'host'", asked->source, asked->value, list);
    Py_XDECREF(list);
    return -1;
}

static int choose_index(const request *asked, int64_t index, dml_choice *choice)
{
    dml_status status;
    if (index < 0 || index >= vulkan_count(&status))
        return not_one_device(asked, NULL);
    *choice = (dml_choice){.host = false, .index = (int)index};
    const dml_device_info *info = dml_vk_device(choice->index);
    if (info->usable)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s=%R: %s is not usable: %s", asked->source, asked->value, info->name, info->reason);
    return -1;
}

/* The types by which a device can be chosen. The first three are GPUs; the last one means any of these. */
static const char *const types[] = {"discrete", "integrated", "virtual", "cpu", "other", "gpu"};
enum { GPU_TYPES = 3, ANY_GPU = 5, TYPES = 6 };

/* An index of `types`, or TYPES. */
static int type_of(const char *name)
{
    int type = 0;
    while (type < TYPES && !equal(types[type], name))
        type++;
    return type;
}

static bool has_type(const dml_device_info *info, const char *name)
{
    int type = type_of(info->type), wanted = type_of(name);
    return type == wanted || (wanted == ANY_GPU && type < GPU_TYPES);
}

/* The best device that fits, or -1. The list has the best first and unusable ones last. */
static int find(bool (*fits)(const dml_device_info *, const char *), const char *name, int count)
{
    int index = 0;
    while (index < count && !fits(dml_vk_device(index), name))
        index++;
    return index < count ? index : -1;
}

/* The best device whose name contains `part`. Where usable devices of other names do too, the choice is the caller's. */
static int choose_part(const request *asked, const char *part, int count, dml_choice *choice)
{
    int best = find(has_in_name, part, count);
    for (int k = best + 1; best >= 0 && k < count; k++) {
        const dml_device_info *other = dml_vk_device(k);
        if (other->usable && has_in_name(other, part) && !equal(other->name, dml_vk_device(best)->name))
            return not_one_device(asked, part);
    }
    return choose_index(asked, best, choice);
}

/* A number, "host", a type, a whole name, or a part of one; letters of either case. */
static int choose_name(const request *asked, const char *name, dml_choice *choice)
{
    *choice = dml_host;
    if (equal("host", name))
        return 0;
    if (*name && strspn(name, "0123456789") == strlen(name)) {
        errno = 0;
        long long index = strtoll(name, NULL, 10);
        return choose_index(asked, errno ? -1 : index, choice);
    }
    dml_status status;
    int count = vulkan_count(&status);
    bool type = type_of(name) < TYPES;
    int index = find(type ? has_type : has_name, name, count);
    return type || index >= 0 ? choose_index(asked, index, choice) : choose_part(asked, name, count, choice);
}

int dml_device_default(const dml_state *state, dml_choice *choice)
{
    const char *name = getenv("DMLOPS_DEVICE");
    if (name && *name) {
        PyObject *copy = PyBytes_FromString(name); /* another thread may set the variable anew */
        PyObject *value = copy ? PyUnicode_DecodeFSDefault(PyBytes_AsString(copy)) : NULL;
        request asked = {state, "DMLOPS_DEVICE", value};
        int failed = value ? choose_name(&asked, PyBytes_AsString(copy), choice) : -1;
        Py_XDECREF(value);
        Py_XDECREF(copy);
        return failed;
    }
    dml_status status, failure;
    int count = vulkan_count(&status);
    *choice = (dml_choice){.host = false, .index = 0};
    if (count > 0 && dml_vk_device(0)->usable)
        return 0;
    if (count > 0)
        dml_fail(&failure, DML_NO_DEVICE, "no usable Vulkan device; %.200s: %.200s (device=\"host\" runs without one)",
                 dml_vk_device(0)->name, dml_vk_device(0)->reason);
    else
        dml_fail(&failure, status.code, "%.400s (device=\"host\" runs without Vulkan)", status.message);
    dml_raise(state, &failure);
    return -1;
}

/* A dmlops.Device means the entry of the list that equals it. */
static int choose_device(const request *asked, dml_choice *choice)
{
    PyObject *list = dml_device_list(asked->state);
    Py_ssize_t size = list ? PyList_Size(list) : 0, k = 0;
    int same = list ? 0 : -1;
    while (same == 0 && k < size)
        same = PyObject_RichCompareBool(PyList_GetItem(list, k++), asked->value, Py_EQ);
    Py_XDECREF(list);
    if (same < 0)
        return -1;
    *choice = dml_host;
    return same && k == size ? 0 : choose_index(asked, same ? k - 1 : -1, choice);
}

int dml_device_choose(const dml_state *state, PyObject *object, dml_choice *choice)
{
    request asked = {state, "device", object};
    if (PyUnicode_Check(object)) {
        const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
        return name ? choose_name(&asked, name, choice) : -1;
    }
    if ((PyObject *)Py_TYPE(object) == state->device_class)
        return choose_device(&asked, choice);
    int64_t index;
    if (!dml_is_int(object))
        return dml_type_error("device", "an int, a str, a dmlops.Device or None", object);
    return dml_int_from(object, "device", &index) < 0 ? -1 : choose_index(&asked, index, choice);
}

int dml_device_from(const dml_state *state, PyObject *object, dml_choice *choice)
{
    return object == Py_None ? dml_device_default(state, choice) : dml_device_choose(state, object, choice);
}
