#define _GNU_SOURCE /* MAP_ANONYMOUS, syscall */
#include "vk/cpu_needs.h"

#include "vk/context.h"

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/pages.h"

static const uint64_t mib = 1 << 20;

enum {
    MAX_POOL = 32,      /* threads in each of lavapipe's two pools, */
    OTHER_THREADS = 2,  /* and those besides: of the queue, and of its cache on disk */
    MIN_STACK_KIB = 256 /* LLVM compiles with 128 */
};

/* MiB. A thread's heap is glibc's; the first compilation takes some 40, a later one up to 32. The file has a page for each
 * descriptor set. */
enum { THREAD_HEAP = 64, START = 128, GO_ON = 64, FILE_SIZE = 64 };

static bool fits(uint64_t bytes, int protection)
{
    void *pages = mmap(NULL, (size_t)bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages != MAP_FAILED)
        munmap(pages, (size_t)bytes);
    return pages != MAP_FAILED;
}

/* Whether there is so much room: addresses, of which RLIMIT_AS counts all, and memory that may be written, which RLIMIT_DATA
 * counts. */
static bool has_room(uint64_t addresses, uint64_t data, dml_need *unmet)
{
    bool has_addresses = fits(addresses, PROT_NONE);
    if (has_addresses && fits(data, PROT_READ | PROT_WRITE))
        return true;
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(has_addresses ? RLIMIT_DATA : RLIMIT_AS, &limit);
    unmet->no_memory = limit.rlim_cur == RLIM_INFINITY;
    int length =
        snprintf(unmet->text, sizeof unmet->text, "it needs %llu MiB more %s",
                 (unsigned long long)((has_addresses ? data : addresses) / mib), has_addresses ? "memory" : "address space");
    if (unmet->no_memory)
        snprintf(unmet->text + length, sizeof unmet->text - (size_t)length, ", which the system does not give");
    else
        snprintf(unmet->text + length, sizeof unmet->text - (size_t)length, " than %s, %llu MiB, leaves",
                 has_addresses ? "RLIMIT_DATA" : "RLIMIT_AS", (unsigned long long)(limit.rlim_cur / mib));
    return false;
}

static bool can_execute(dml_need *unmet)
{
    const size_t page = dml_page_size();
    volatile char *code = dml_pages_map(0, page);
    if (code)
        *code = 1;
    bool can = code && mprotect((void *)code, page, PROT_READ | PROT_EXEC) == 0;
    dml_pages_unmap((void *)code, page);
    unmet->no_memory = !code;
    if (!code)
        snprintf(unmet->text, sizeof unmet->text, "it needs memory, which the system does not give");
    else if (!can)
        snprintf(unmet->text, sizeof unmet->text,
                 "it compiles, and this process may not execute memory that it has written (MemoryDenyWriteExecute of systemd, "
                 "SELinux or the like)");
    return can;
}

static bool can_have_file(dml_need *unmet)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    if (limit.rlim_cur < FILE_SIZE * mib) { /* to exceed it may end the process */
        snprintf(unmet->text, sizeof unmet->text, "its memory is a file of up to %d MiB, and RLIMIT_FSIZE is %llu KiB",
                 FILE_SIZE, (unsigned long long)limit.rlim_cur / 1024);
        return false;
    }
#ifdef SYS_memfd_create /* which glibc has from 2.27 on */
    const int close_on_exec = 1;
    int file = (int)syscall(SYS_memfd_create, "dmlops", close_on_exec);
    bool sized = file >= 0 && ftruncate(file, (off_t)(FILE_SIZE * mib)) == 0;
    int error = errno;
    if (file >= 0)
        close(file);
    if (!sized)
        snprintf(unmet->text, sizeof unmet->text, "its memory is a file (memfd_create), which this process cannot make: %s",
                 strerror(error));
    return sized;
#else
    return true;
#endif
}

static size_t stack_size(void)
{
    pthread_attr_t attributes;
    size_t size = 0;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size;
}

static bool has_stacks(dml_need *unmet)
{
    if (stack_size() >= MIN_STACK_KIB * (size_t)1024)
        return true;
    snprintf(unmet->text, sizeof unmet->text,
             "its threads need stacks of %d KiB, and RLIMIT_STACK was %llu KiB when this process began", MIN_STACK_KIB,
             (unsigned long long)stack_size() / 1024);
    return false;
}

/* As lavapipe counts: a thread for each core in each of its pools, or none on a single core. */
static int thread_count(void)
{
    const char *said = getenv("LP_NUM_THREADS");
    bool set = said && *said;
    long count = set ? strtol(said, NULL, 10) : dml_usable_cores();
    if (count < 0 || (count == 1 && !set))
        count = 0;
    return 2 * (int)(count < MAX_POOL ? count : MAX_POOL) + OTHER_THREADS;
}

static void *wait_at_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* How many of `count` threads this process can have at once. They get no signals, which belong to others. */
static int start_threads(int count)
{
    pthread_t threads[2 * MAX_POOL + OTHER_THREADS];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    sigset_t all, before;
    int started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&gate);
    while (started < count && pthread_create(&threads[started], NULL, wait_at_gate, &gate) == 0)
        started++;
    pthread_mutex_unlock(&gate);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started;
}

static bool can_start_threads(dml_need *unmet)
{
    int count = thread_count(), started = start_threads(count);
    if (started == count)
        return true;
    snprintf(
        unmet->text, sizeof unmet->text,
        "it needs %d threads, and this process may start %d (RLIMIT_NPROC, or pids.max of its control group; LP_NUM_THREADS=1 "
        "makes it start fewer)",
        count, started);
    return false;
}

static bool can_take(uint64_t bytes, dml_need *unmet)
{
    return has_room(bytes + GO_ON * mib, bytes + GO_ON * mib, unmet);
}

bool dml_cpu_can_start(dml_need *unmet)
{
    const uint64_t threads = (uint64_t)thread_count(), stacks = threads * stack_size(), start = START * mib;
    return has_stacks(unmet) && has_room(stacks + threads * THREAD_HEAP * mib + start, stacks + start, unmet) &&
           can_execute(unmet) && can_have_file(unmet) && can_start_threads(unmet);
}

static bool memory_is_limited(void)
{
    struct rlimit addresses, data;
    return getrlimit(RLIMIT_AS, &addresses) == 0 && getrlimit(RLIMIT_DATA, &data) == 0 &&
           (addresses.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

bool dml_cpu_can_open(dml_need *unmet)
{
    return can_take(0, unmet);
}

bool dml_cpu_can_allocate(dml_context *context, uint64_t bytes, dml_need *unmet)
{
    if (!context->offered.cpu)
        return true;
    context->limited = memory_is_limited();
    return can_take(bytes, unmet);
}

dml_code dml_cpu_check(dml_context *context, dml_cpu_work work, dml_status *status)
{
    dml_need unmet = {.no_memory = false};
    if (!context->offered.cpu || (work == DML_CPU_CALL && !context->limited))
        return DML_OK;
    const bool memory = dml_cpu_can_allocate(context, 0, &unmet);
    if (memory && (work != DML_CPU_COMPILE || can_execute(&unmet)) && (work != DML_CPU_FILE || can_have_file(&unmet)))
        return DML_OK;
    return dml_fail(status, dml_need_code(&unmet, memory ? DML_VULKAN_ERROR : DML_NO_MEMORY),
                    "the CPU's Vulkan driver would fail: %s (device=\"host\" runs without it)", unmet.text);
}

#else
bool dml_cpu_can_open(dml_need *unmet)
{
    (void)unmet;
    return true;
}

bool dml_cpu_can_start(dml_need *unmet)
{
    (void)unmet;
    return true;
}

bool dml_cpu_can_allocate(dml_context *context, uint64_t bytes, dml_need *unmet)
{
    (void)context, (void)bytes, (void)unmet;
    return true;
}

dml_code dml_cpu_check(dml_context *context, dml_cpu_work work, dml_status *status)
{
    (void)context, (void)work, (void)status;
    return DML_OK;
}
#endif
