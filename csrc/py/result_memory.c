#include "py/result_memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/idle.h"
#include "base/usable_memory.h"
#include "py/device_choice.h"
#include "py/errors.h"
#include "vk/vk.h"

/* --- the limit -------------------------------------------------------------------------------------------------- */

static int64_t cache_limit = -1; /* -1: not open yet */
static bool asked_for;           /* by DMLOPS_CACHE, whatever the memory */
static atomic_ullong memory;     /* what the limit was found for */
static atomic_bool memory_changed;

/* Of the idle thread, which looks every second while something is pooled. */
static bool look_at_memory(int64_t before)
{
    (void)before;
    if (dml_usable_memory_now().limit != memory)
        memory_changed = true;
    return false;
}

/* Called on first use, so that a wrong DMLOPS_CACHE fails a call and not the import. */
static int find_limits(void)
{
    const char *variable = getenv("DMLOPS_CACHE");
    const unsigned long long usable = dml_usable_memory_now().limit;
    PyObject *text = PyUnicode_DecodeFSDefault(variable && cache_limit < 0 ? variable : "");
    PyObject *module = text ? PyImport_ImportModule("dmlops.memory") : NULL;
    PyObject *limits = module ? PyObject_CallMethod(module, "_limits", "OK", text, usable) : NULL;
    long long bytes = -1, whole;
    bool found = limits && PyArg_ParseTuple(limits, "LL", &bytes, &whole);
    if (found && cache_limit < 0) { /* another thread may have come first while Python ran */
        cache_limit = bytes;
        memory = usable;
        asked_for = variable && *variable;
        dml_cache_open((size_t)bytes, (size_t)whole);
        dml_idle_watch(look_at_memory);
        dml_idle_watch(dml_vk_give_back);
    } else if (found && !asked_for) {
        cache_limit = bytes;
        memory = usable;
        dml_cache_limit((size_t)bytes, (size_t)whole);
    }
    Py_XDECREF(limits);
    Py_XDECREF(module);
    Py_XDECREF(text);
    return found ? 0 : -1;
}

int dml_memory_ready(void)
{
    return cache_limit < 0 || (atomic_exchange(&memory_changed, false) && !asked_for) ? find_limits() : 0;
}

/* --- NumPy's side ----------------------------------------------------------------------------------------------- */

static void *handler_malloc(void *Py_UNUSED(context), size_t size)
{
    return dml_cache_acquire(size);
}

static void *handler_calloc(void *Py_UNUSED(context), size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        return NULL;
    void *data = dml_cache_acquire(count * size);
    return data ? memset(data, 0, count * size) : NULL;
}

static void *handler_realloc(void *Py_UNUSED(context), void *data, size_t size)
{
    return dml_cache_resize(data, size);
}

/* `size` is not reliable: NumPy counts 0 bytes as 1, and passes the array's present size, which may have changed. */
static void handler_free(void *Py_UNUSED(context), void *data, size_t Py_UNUSED(size))
{
    dml_cache_release(data);
}

/* Static: arrays refer to it, and may outlive the module. */
static PyDataMem_Handler handler = {
    .name = "dmlops",
    .version = 1,
    .allocator = {.malloc = handler_malloc, .calloc = handler_calloc, .realloc = handler_realloc, .free = handler_free},
};

int dml_memory_init(dml_state *state)
{
    state->memory_handler = PyCapsule_New(&handler, "mem_handler", NULL);
    return state->memory_handler ? 0 : -1;
}

/* Setting a context variable can collect garbage within Python 3.11, which crashes where a finalizer then sets one, too. */
static PyObject *set_handler(PyObject *allocator)
{
    int enabled = PyGC_Disable();
    PyObject *former = PyDataMem_SetHandler(allocator);
    if (enabled)
        PyGC_Enable();
    return former;
}

int dml_memory_lend(const dml_state *state, int64_t bytes, PyObject **others)
{
    *others = NULL;
    if (dml_memory_ready() < 0)
        return -1;
    if (bytes < DML_LARGE_RESULT || cache_limit == 0)
        return 0;
    PyObject *present = PyDataMem_GetHandler();
    if (!present)
        return -1;
    bool ordinary = present == PyDataMem_DefaultHandler;
    Py_DECREF(present);
    if (ordinary)
        *others = set_handler(state->memory_handler);
    return ordinary && !*others ? -1 : 0;
}

int dml_memory_return(PyObject *others)
{
    if (!others)
        return 0;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *ours = set_handler(others);
    Py_DECREF(others);
    if (type || ours)
        PyErr_Restore(type, value, traceback);
    Py_XDECREF(ours);
    return ours ? 0 : -1;
}

/* --- memory_info and empty_cache ----------------------------------------------------------------------------------- */

PyObject *dml_memory_info(PyObject *module, PyObject *device)
{
    const dml_state *state = dml_state_of(module);
    dml_choice choice = dml_host;
    dml_memory_bytes bytes;
    dml_status status;
    dml_code code;
    memory_changed = true; /* whoever asks is told what holds now */
    if ((device != Py_None && dml_device_from(state, device, &choice) < 0) || dml_memory_ready() < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_backend_of(&choice)->memory(choice.index, &bytes, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        return dml_raise(state, &status);
    return Py_BuildValue("KKKKK", (unsigned long long)bytes.used, (unsigned long long)bytes.pooled,
                         (unsigned long long)bytes.limit, (unsigned long long)bytes.available,
                         (unsigned long long)bytes.unused);
}

PyObject *dml_empty_cache(PyObject *module, PyObject *Py_UNUSED(none))
{
    if (dml_memory_ready() < 0)
        return NULL;
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    dml_cache_clear();
    code = dml_vk_empty_pools(&status);
    Py_END_ALLOW_THREADS;
    if (code && code != DML_DEVICE_LOST) /* a lost device has no pool */
        return dml_raise(dml_state_of(module), &status);
    Py_RETURN_NONE;
}

PyObject *dml_play_memory(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *folder;
    int idle_after;
    if (!PyArg_ParseTuple(args, "zi:_play_memory", &folder, &idle_after))
        return NULL;
    if (!dml_usable_memory_play(folder))
        return PyErr_Format(PyExc_ValueError, "the name is too long");
    dml_idle_after(idle_after);
    const dml_usable_memory memory = dml_usable_memory_now();
    return Py_BuildValue("KK", memory.limit, memory.left);
}
