#include "py/result_memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "py/cache.h"
#include "py/device_choice.h"
#include "py/errors.h"
#include "vk/vk.h"

/* --- the limit -------------------------------------------------------------------------------------------------- */

unsigned long long dml_memory_of_machine(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : 0;
#elif defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (unsigned long long)pages * (unsigned long long)page : 0;
#else
    return 0;
#endif
}

static size_t default_limit(void)
{
    unsigned long long most = 256ull << 20, tenth = dml_memory_of_machine() / 10;
    return (size_t)(tenth > 0 && tenth < most ? tenth : most);
}

/* Digits, then nothing, K, M or G, which may go on as KB or KiB; in either case of letters. */
static bool size_from(const char *text, size_t *size)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno)
        return false;
    while (*end == ' ')
        end++;
    static const char units[] = "kmg";
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (unit)
        end++;
    if (unit && tolower((unsigned char)*end) == 'i')
        end++;
    if (unit && tolower((unsigned char)*end) == 'b')
        end++;
    *size = (size_t)(number << shift);
    return !*end && number <= SIZE_MAX / 2 >> shift;
}

static int64_t cache_limit = -1; /* -1: not open yet */

/* Called on first use, so that a wrong DMLOPS_CACHE fails a call and not the import. */
int dml_memory_ready(void)
{
    if (cache_limit >= 0)
        return 0;
    const char *text = getenv("DMLOPS_CACHE");
    size_t limit = default_limit();
    if (text && *text && !size_from(text, &limit)) {
        PyObject *wrong = PyUnicode_DecodeFSDefault(text);
        if (wrong)
            PyErr_Format(PyExc_ValueError,
                         "DMLOPS_CACHE must be a number of bytes, like 1000000, 256M or 1GiB, or 0 for no cache, not %R",
                         wrong);
        Py_XDECREF(wrong);
        return -1;
    }
    dml_cache_open(limit);
    cache_limit = (int64_t)limit;
    return 0;
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
        *others = PyDataMem_SetHandler(state->memory_handler);
    return ordinary && !*others ? -1 : 0;
}

int dml_memory_return(PyObject *others)
{
    if (!others)
        return 0;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *ours = PyDataMem_SetHandler(others);
    Py_DECREF(others);
    if (type || ours)
        PyErr_Restore(type, value, traceback);
    Py_XDECREF(ours);
    return ours ? 0 : -1;
}

/* --- memory_info and empty_cache ----------------------------------------------------------------------------------- */

/* What the system could still give; 0 if unknown. */
static unsigned long long available_on_host(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory.ullAvailPhys : 0;
#else
    unsigned long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            kib = strtoull(line + 13, NULL, 10);
    if (file)
        fclose(file);
#if defined(_SC_AVPHYS_PAGES) && defined(_SC_PAGESIZE)
    if (kib == 0) {
        long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        kib = pages > 0 && page > 0 ? (unsigned long long)pages * (unsigned long long)page / 1024 : 0;
    }
#endif
    return kib * 1024;
#endif
}

/* 0, or -1 with an exception set. */
static int count_bytes(const dml_state *state, const dml_choice *choice, dml_memory_bytes *bytes)
{
    if (choice->host) {
        dml_cache_bytes cache = dml_cache_count();
        *bytes = (dml_memory_bytes){cache.used, cache.kept, cache.bound, available_on_host()};
        return 0;
    }
    dml_context *context;
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_vk_context(choice->index, &context, &status);
    if (!code)
        code = dml_vk_memory(context, bytes, &status);
    Py_END_ALLOW_THREADS;
    if (code)
        dml_raise(state, &status);
    return code ? -1 : 0;
}

PyObject *dml_memory_info(const dml_state *state, PyObject *device)
{
    dml_choice choice = {.host = true};
    dml_memory_bytes bytes;
    if (device != Py_None && dml_device_choose(state, device, &choice) < 0)
        return NULL;
    if (dml_memory_ready() < 0 || count_bytes(state, &choice, &bytes) < 0)
        return NULL;
    return Py_BuildValue("KKKK", (unsigned long long)bytes.used, (unsigned long long)bytes.pooled,
                         (unsigned long long)bytes.bound, (unsigned long long)bytes.available);
}

PyObject *dml_memory_empty(const dml_state *state)
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
        return dml_raise(state, &status);
    Py_RETURN_NONE;
}
