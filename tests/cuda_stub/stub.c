/* A libcuda.so.1 that plays CUDA on lavapipe, whose memory is a file: it maps what it imports, and "device memory" is the
 * host's. Work on a stream waits, undone, until somebody waits for that stream or for all of them: who forgets to wait sees
 * old bytes. Its second device has the UUID that the environment says. Tests steer it by the functions at the end.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SUCCESS, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201, UNKNOWN = 999 };
enum { DEVICES = 2, FIRST_HANDLE = 40, MOST = 1024 };

typedef unsigned long long address;

typedef union {
    int fd;
    void *win32[2];
} foreign;

typedef struct {
    int type;
    foreign as;
    unsigned long long size;
    unsigned flags, reserved[16];
} handle_desc;

typedef struct {
    unsigned long long offset, size;
    unsigned flags, reserved[16];
} buffer_desc;

typedef struct {
    int fd;
    uint64_t size, payload; /* bytes of the memory, and where it begins in the file */
} external_memory;

/* A semaphore, as faults/semaphores.c has it in a file. */
typedef struct semaphore {
    bool (*wait)(const struct semaphore *semaphore, uint64_t value);
    void *others[3];
} semaphore;

typedef struct {
    int type;
    foreign as;
    unsigned flags, reserved[16];
} semaphore_desc;

typedef struct {
    unsigned long long value, others[3];
    unsigned unused[10], flags, reserved[16];
} wait_desc;

typedef struct {
    char *to;                  /* NULL: `waits_for`, to reach `until` */
    const char *from;          /* NULL: bytes of `value` */
    size_t bytes;
    int value;
    uintptr_t stream;
    const semaphore *waits_for;
    uint64_t until;
} work;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t initialised_by;
static int retained, depth_of_all, alive; /* memory that is imported, and mapped */
static int semaphores;                    /* that are imported */
static _Thread_local int depth; /* contexts that the thread has pushed */
static work queue[MOST];
static int queued;

static struct {
    char *at;
    size_t bytes;
} mappings[4096];

static struct {
    char name[48];
    long calls;
} counts[64];

static struct {
    char name[48];
    long at;
    int result;
} fault;

/* Every function begins so: it counts its call, and fails where a test says so, without CUDA's being initialised, and in the
 * child of a fork, as CUDA does. */
static int begin(const char *name, bool needs_context)
{
    int result = SUCCESS;
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (counts[i].name[0] && strcmp(counts[i].name, name) != 0)
        i++;
    snprintf(counts[i].name, sizeof counts[i].name, "%s", name);
    counts[i].calls++;
    if (strcmp(fault.name, name) == 0 && --fault.at == 0)
        result = fault.result;
    else if (initialised_by != getpid())
        result = NOT_INITIALIZED;
    else if (needs_context && depth == 0)
        result = INVALID_CONTEXT;
    pthread_mutex_unlock(&mutex);
    return result;
}

#define BEGIN(needs_context)                                                                                           \
    int begun = begin(__func__, needs_context);                                                                        \
    if (begun)                                                                                                         \
    return begun

/* Does what is queued on a stream, or on all, in order. */
static void drain(bool all, uintptr_t stream)
{
    pthread_mutex_lock(&mutex);
    int left = 0;
    for (int i = 0; i < queued; i++) {
        const work *w = &queue[i];
        if (!all && w->stream != stream)
            queue[left++] = *w;
        else if (w->waits_for) {
            if (!w->waits_for->wait(w->waits_for, w->until))
                abort();
        } else if (w->from)
            memcpy(w->to, w->from, w->bytes);
        else
            memset(w->to, w->value, w->bytes);
    }
    queued = left;
    pthread_mutex_unlock(&mutex);
}

static void add(work w)
{
    pthread_mutex_lock(&mutex);
    if (queued == MOST)
        abort();
    queue[queued++] = w;
    pthread_mutex_unlock(&mutex);
}

/* --- CUDA -------------------------------------------------------------------------------------------------------- */

int cuInit(unsigned flags)
{
    pthread_mutex_lock(&mutex);
    if (!initialised_by)
        initialised_by = getpid();
    pthread_mutex_unlock(&mutex);
    BEGIN(false);
    return flags ? INVALID_VALUE : SUCCESS;
}

int cuGetErrorName(int result, const char **name)
{
    static const char *const names[] = {"CUDA_SUCCESS", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_OUT_OF_MEMORY",
                                        "CUDA_ERROR_NOT_INITIALIZED"};
    *name = result == INVALID_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT" : result <= NOT_INITIALIZED ? names[result] : NULL;
    return *name ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetCount(int *count)
{
    BEGIN(false);
    *count = DEVICES;
    return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
    BEGIN(false);
    *device = FIRST_HANDLE + ordinal;
    return ordinal < DEVICES ? SUCCESS : INVALID_VALUE;
}

#ifndef OLD
int cuDeviceGetUuid_v2(uint8_t *uuid, int device)
{
    BEGIN(false);
    const char *digits = getenv("DMLOPS_TEST_CUDA_UUID");
    memset(uuid, device, 16);
    for (int i = 0; i < 16 && device == FIRST_HANDLE + 1 && digits; i++)
        sscanf(digits + 2 * i, "%2hhx", &uuid[i]);
    return SUCCESS;
}
#endif

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BEGIN(false);
    if (device != FIRST_HANDLE + 1)
        return INVALID_VALUE;
    retained++;
    *context = &retained;
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    BEGIN(false);
    retained -= device == FIRST_HANDLE + 1;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    BEGIN(false);
    if (context != &retained || retained == 0)
        return INVALID_CONTEXT;
    depth++;
    __atomic_add_fetch(&depth_of_all, 1, __ATOMIC_SEQ_CST);
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
    BEGIN(true);
    *context = &retained;
    depth--;
    __atomic_sub_fetch(&depth_of_all, 1, __ATOMIC_SEQ_CST);
    return SUCCESS;
}

int cuCtxSynchronize(void)
{
    BEGIN(true);
    drain(true, 0);
    return SUCCESS;
}

int cuStreamSynchronize(void *stream)
{
    BEGIN(true);
    drain(false, (uintptr_t)stream);
    return SUCCESS;
}

int cuImportExternalMemory(void **memory, const handle_desc *desc)
{
    BEGIN(true);
    uint64_t header[2];
    bool wrong = desc->type != 1 || desc->flags || pread(desc->as.fd, header, sizeof header, 0) != sizeof header;
    for (int i = 0; i < 16; i++)
        wrong |= desc->reserved[i] != 0;
    if (wrong || header[0] < desc->size)
        return INVALID_VALUE;
    external_memory *made = malloc(sizeof *made);
    *made = (external_memory){desc->as.fd, desc->size, header[1]};
    *memory = made;
    __atomic_add_fetch(&alive, 1, __ATOMIC_SEQ_CST);
    return SUCCESS;
}

int cuDestroyExternalMemory(void *memory)
{
    BEGIN(true);
    close(((external_memory *)memory)->fd);
    free(memory);
    __atomic_sub_fetch(&alive, 1, __ATOMIC_SEQ_CST);
    return SUCCESS;
}

int cuImportExternalSemaphore(void **made, const semaphore_desc *desc)
{
    BEGIN(true);
    semaphore *read = malloc(sizeof *read);
    if (desc->type != 9 || desc->flags || pread(desc->as.fd, read, sizeof *read, 0) != sizeof *read) {
        free(read);
        return INVALID_VALUE;
    }
    close(desc->as.fd);
    *made = read;
    semaphores++;
    return SUCCESS;
}

int cuDestroyExternalSemaphore(void *made)
{
    BEGIN(true);
    free(made);
    semaphores--;
    return SUCCESS;
}

int cuWaitExternalSemaphoresAsync(void *const *all, const wait_desc *waits, unsigned count, void *stream)
{
    BEGIN(true);
    if (count != 1 || waits->flags)
        return INVALID_VALUE;
    add((work){.waits_for = *all, .until = waits->value, .stream = (uintptr_t)stream});
    return SUCCESS;
}

int cuExternalMemoryGetMappedBuffer(address *at, void *of, const buffer_desc *desc)
{
    BEGIN(true);
    const external_memory *memory = of;
    if (desc->offset + desc->size > memory->size)
        return INVALID_VALUE;
    void *mapped = mmap(NULL, desc->size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd,
                        (off_t)(memory->payload + desc->offset));
    if (mapped == MAP_FAILED)
        return UNKNOWN;
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (mappings[i].at)
        i++;
    mappings[i].at = mapped;
    mappings[i].bytes = desc->size;
    __atomic_add_fetch(&alive, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&mutex);
    *at = (address)(uintptr_t)mapped;
    return SUCCESS;
}

int cuMemFree_v2(address at)
{
    BEGIN(true);
    int result = INVALID_VALUE;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 4096 && result; i++)
        if (mappings[i].at == (char *)(uintptr_t)at) {
            munmap(mappings[i].at, mappings[i].bytes);
            mappings[i].at = NULL;
            __atomic_sub_fetch(&alive, 1, __ATOMIC_SEQ_CST);
            result = SUCCESS;
        }
    pthread_mutex_unlock(&mutex);
    return result;
}

int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream)
{
    BEGIN(true);
    add((work){.to = (char *)(uintptr_t)to, .from = (char *)(uintptr_t)from, .bytes = bytes, .stream = (uintptr_t)stream});
    return SUCCESS;
}

/* --- what tests say and ask ------------------------------------------------------------------------------------- */

/* A kernel of a consumer's or a producer's: fills memory. */
void stub_fill(address to, int value, size_t bytes, uintptr_t stream)
{
    add((work){.to = (char *)(uintptr_t)to, .value = value, .bytes = bytes, .stream = stream});
}

/* The device finishes all work. */
void stub_finish(void)
{
    drain(true, 0);
}

int stub_queued(void)
{
    return queued;
}

/* The `at`-th call of a function from now on fails; "": none. */
void stub_fail(const char *name, long at, int result)
{
    pthread_mutex_lock(&mutex);
    snprintf(fault.name, sizeof fault.name, "%s", name);
    fault.at = at;
    fault.result = result;
    pthread_mutex_unlock(&mutex);
}

long stub_calls(const char *name)
{
    for (int i = 0; i < 64; i++)
        if (strcmp(counts[i].name, name) == 0)
            return counts[i].calls;
    return 0;
}

int stub_alive(void)
{
    return alive;
}

int stub_semaphores(void)
{
    return semaphores;
}

/* Contexts that are pushed, or retained. */
int stub_contexts(void)
{
    return retained + 1000 * depth_of_all;
}
