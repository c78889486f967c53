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

/* Of so much room: addresses, of which RLIMIT_AS counts all, and memory that may be written, which RLIMIT_DATA counts. */
static dml_code check_room(uint64_t addresses, uint64_t data, dml_status *unmet)
{
    bool has_addresses = fits(addresses, PROT_NONE);
    if (has_addresses && fits(data, PROT_READ | PROT_WRITE))
        return DML_OK;
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(has_addresses ? RLIMIT_DATA : RLIMIT_AS, &limit);
    const unsigned long long missing = (has_addresses ? data : addresses) / mib;
    const char *what = has_addresses ? "memory" : "address space";
    if (limit.rlim_cur == RLIM_INFINITY)
        return dml_fail(unmet, DML_NO_MEMORY, "it needs %llu MiB more %s, which the system does not give", missing, what);
    return dml_fail(unmet, DML_NO_DEVICE, "it needs %llu MiB more %s than %s, %llu MiB, leaves", missing, what,
                    has_addresses ? "RLIMIT_DATA" : "RLIMIT_AS", (unsigned long long)(limit.rlim_cur / mib));
}

static dml_code check_execution(dml_status *unmet)
{
    const size_t page = dml_page_size();
    volatile char *code = dml_pages_map(0, page);
    if (!code)
        return dml_fail(unmet, DML_NO_MEMORY, "it needs memory, which the system does not give");
    *code = 1;
    bool can = mprotect((void *)code, page, PROT_READ | PROT_EXEC) == 0;
    dml_pages_unmap((void *)code, page);
    if (can)
        return DML_OK;
    return dml_fail(unmet, DML_NO_DEVICE,
                    "it compiles, and this process may not execute memory that it has written (MemoryDenyWriteExecute of "
                    "systemd, SELinux or the like)");
}

static dml_code check_file(dml_status *unmet)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    if (limit.rlim_cur < FILE_SIZE * mib) /* to exceed it may end the process */
        return dml_fail(unmet, DML_NO_DEVICE, "its memory is a file of up to %d MiB, and RLIMIT_FSIZE is %llu KiB", FILE_SIZE,
                        (unsigned long long)limit.rlim_cur / 1024);
#ifdef SYS_memfd_create /* which glibc has from 2.27 on */
    const int close_on_exec = 1;
    int file = (int)syscall(SYS_memfd_create, "dmlops", close_on_exec);
    bool sized = file >= 0 && ftruncate(file, (off_t)(FILE_SIZE * mib)) == 0;
    int error = errno;
    if (file >= 0)
        close(file);
    if (!sized)
        return dml_fail(unmet, DML_NO_DEVICE, "its memory is a file (memfd_create), which this process cannot make: %s",
                        strerror(error));
#endif
    return DML_OK;
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

static dml_code check_stacks(dml_status *unmet)
{
    if (stack_size() >= MIN_STACK_KIB * (size_t)1024)
        return DML_OK;
    return dml_fail(unmet, DML_NO_DEVICE,
                    "its threads need stacks of %d KiB, and RLIMIT_STACK was %llu KiB when this process began", MIN_STACK_KIB,
                    (unsigned long long)stack_size() / 1024);
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

static dml_code check_threads(dml_status *unmet)
{
    int count = thread_count(), started = start_threads(count);
    if (started == count)
        return DML_OK;
    return dml_fail(unmet, DML_NO_DEVICE,
                    "it needs %d threads, and this process may start %d (RLIMIT_NPROC, or pids.max of its control group; "
                    "LP_NUM_THREADS=1 makes it start fewer)",
                    count, started);
}

dml_code dml_cpu_check_start(dml_status *unmet)
{
    const uint64_t threads = (uint64_t)thread_count(), stacks = threads * stack_size(), start = START * mib;
    if (check_stacks(unmet) || check_room(stacks + threads * THREAD_HEAP * mib + start, stacks + start, unmet) ||
        check_execution(unmet) || check_file(unmet) || check_threads(unmet))
        return unmet->code;
    return DML_OK;
}

static bool memory_is_limited(void)
{
    struct rlimit addresses, data;
    return getrlimit(RLIMIT_AS, &addresses) == 0 && getrlimit(RLIMIT_DATA, &data) == 0 &&
           (addresses.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

dml_code dml_cpu_check_open(dml_status *unmet)
{
    return check_room(GO_ON * mib, GO_ON * mib, unmet);
}

dml_code dml_cpu_check_room(dml_context *context, uint64_t bytes, dml_status *unmet)
{
    if (!context->offered.cpu)
        return DML_OK;
    context->limited = memory_is_limited();
    return check_room(bytes + GO_ON * mib, bytes + GO_ON * mib, unmet);
}

dml_code dml_cpu_check(dml_context *context, dml_cpu_work work, dml_status *status)
{
    dml_status unmet;
    if (!context->offered.cpu || (work == DML_CPU_CALL && !context->limited))
        return DML_OK;
    dml_code code = DML_NO_MEMORY;
    if (!dml_cpu_check_room(context, 0, &unmet)) {
        code = work == DML_CPU_COMPILE ? check_execution(&unmet) : DML_OK;
        code = work == DML_CPU_FILE ? check_file(&unmet) : code;
    }
    if (!code)
        return DML_OK;
    return dml_fail(status, code == DML_NO_MEMORY ? code : DML_VULKAN_ERROR,
                    "the CPU's Vulkan driver would fail: %.400s (device=\"host\" runs without it)", unmet.message);
}

#else
dml_code dml_cpu_check_open(dml_status *unmet)
{
    (void)unmet;
    return DML_OK;
}

dml_code dml_cpu_check_start(dml_status *unmet)
{
    (void)unmet;
    return DML_OK;
}

dml_code dml_cpu_check_room(dml_context *context, uint64_t bytes, dml_status *unmet)
{
    (void)context, (void)bytes, (void)unmet;
    return DML_OK;
}

dml_code dml_cpu_check(dml_context *context, dml_cpu_work work, dml_status *status)
{
    (void)context, (void)work, (void)status;
    return DML_OK;
}
#endif
