#define _GNU_SOURCE /* on_exit, fcloseall */
/* A child must not be born while another thread is inside the driver, or a Vulkan layer, whose locks it would inherit held. */
#include "vk/quiesce.h"

#include <stdlib.h> /* __GLIBC__ */
#ifdef __GLIBC__
#include <stdio.h>
#include <unistd.h>
#endif

#include "base/counters.h"
#include "base/machine.h"
#include "host/host.h"
#include "vk/context.h"

enum { DRAIN_MS = 10000 };

static uint32_t generation;

uint32_t dml_fork_generation(void)
{
    return generation;
}

void dml_fork_count(void)
{
    generation++;
    dml_counters_reset();
}

void dml_quiesce_init(dml_context *context)
{
    dml_cond_init(&context->quiesce.changed);
}

/* Acquires the lock, after a fork that is under way. */
static void acquire_after_fork(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    while (context->quiesce.forking)
        dml_cond_wait(&context->quiesce.changed, &context->lock);
}

/* With the lock held: somebody left the driver. */
static void wake_waiters(dml_context *context)
{
    if (context->quiesce.forking || context->quiesce.closed)
        dml_cond_wake_all(&context->quiesce.changed);
}

dml_code dml_context_enter(dml_context *context, dml_status *status)
{
    acquire_after_fork(context);
    dml_code code = DML_OK;
    if (context->quiesce.closed)
        code = dml_fail(status, DML_EXITING, "the interpreter is exiting");
    else if (context->lost)
        code = dml_fail(status, DML_DEVICE_LOST, "the device was lost"); /* uncovered: a race of two threads */
    else
        context->quiesce.in_flight++;
    dml_lock_release(&context->lock);
    return code;
}

bool dml_context_enter_to_free(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    bool open = !context->quiesce.closed;
    context->quiesce.in_flight += open;
    dml_lock_release(&context->lock);
    return open;
}

void dml_context_leave(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    context->quiesce.in_flight--;
    wake_waiters(context);
    dml_lock_release(&context->lock);
}

bool dml_context_alone(const dml_context *context)
{
    return context->quiesce.in_flight == 1;
}

static void go_outside(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    context->quiesce.outside++;
    wake_waiters(context);
    dml_lock_release(&context->lock);
}

static void come_inside(dml_context *context)
{
    acquire_after_fork(context);
    context->quiesce.outside--;
    dml_lock_release(&context->lock);
}

bool dml_context_outside(dml_context *context, bool (*work)(void), bool *result)
{
    uint32_t before = generation;
    go_outside(context);
    *result = work();
    if (before != generation)
        return false;
    come_inside(context);
    return true;
}

void dml_context_run_on_host(dml_context *context, const dml_plan *plan, const void *src, void *dst)
{
    go_outside(context);
    dml_host_run(plan, src, dst, NULL);
    come_inside(context);
}

void dml_context_acquire_lock(dml_context *context, dml_lock *lock)
{
    go_outside(context);
    dml_lock_acquire(lock);
    come_inside(context);
}

void dml_context_quiesce(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    context->quiesce.forking = true;
    while (context->quiesce.in_flight > context->quiesce.outside)
        dml_cond_wait(&context->quiesce.changed, &context->lock);
    context->vk.vkQueueWaitIdle(context->device_queue);
}

void dml_context_resume(dml_context *context)
{
    context->quiesce.forking = false;
    dml_cond_wake_all(&context->quiesce.changed);
    dml_lock_release(&context->lock);
}

void dml_context_resume_in_child(dml_context *context) /* uncovered: only in a forked child, which writes no counts */
{
    context->quiesce.forking = false;
    dml_cond_init(&context->quiesce.changed); /* its waiters are threads of the parent */
    dml_lock_release(&context->lock);
}

bool dml_context_drain(dml_context *context)
{
    const int64_t start = dml_nanoseconds();
    int left = DRAIN_MS;
    dml_lock_acquire(&context->lock);
    context->quiesce.closed = true;
    while (context->quiesce.in_flight > 0 && left > 0) {
        dml_cond_wait_for(&context->quiesce.changed, &context->lock, left);
        left = DRAIN_MS - (int)((dml_nanoseconds() - start) / 1000000);
    }
    bool drained = context->quiesce.in_flight == 0;
    dml_lock_release(&context->lock);
    return drained;
}

/* Tries again after VK_ERROR_OUT_OF_HOST_MEMORY and the like, which may pass: at exit there is no later call. */
bool dml_context_wait_idle(dml_context *context)
{
    VkResult result = VK_NOT_READY;
    for (int tries = 0; result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST && tries < 3; tries++)
        result = context->vk.vkQueueWaitIdle(context->device_queue);
    return result == VK_SUCCESS;
}

/* --- exit of a child ------------------------------------------------------------------------------------------- */

#ifdef __GLIBC__
/* Ends as exit() does after its last handler. */
static void leave(int status, void *born)
{
    if ((uintptr_t)born == generation)
        return;
    fcloseall();   /* uncovered: only in a forked child, which writes no counts */
    _exit(status); /* uncovered: only in a forked child, which writes no counts */
}
#endif

/* A driver's exit handler joins threads that a child does not have: Mesa's waits for those of the shader cache, which hangs or
 * crashes, whether or not the child has called anything. Handlers run in reverse order. So one that follows the driver's, and
 * in a child ends the process, keeps it from the driver's, and from no other but those registered earlier still. */
void dml_child_exit_watch(void)
{
#ifdef __GLIBC__
    (void)on_exit(leave, (void *)(uintptr_t)generation);
#endif
}
