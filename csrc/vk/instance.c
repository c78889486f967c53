/* The process' list of devices, and one context a device: made on first use, forgotten in a forked child. */
#define _DEFAULT_SOURCE /* nanosleep */
#include "vk/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
#include <pthread.h>
#include <time.h>
#endif

static struct {
    dml_lock lock;
    bool shut; /* no more, the interpreter is exiting */
    dml_device_list list;
    dml_status status; /* why there are no devices */
    dml_context *contexts[DML_MAX_DEVICES];
    uint64_t abandoned; /* by contexts that were lost, or left at exit, which count as one each at least */
} state = {.lock = DML_LOCK_INIT};

uint32_t dml_generation;

/* --- fork ------------------------------------------------------------------------------------------------------ */

#ifndef _WIN32
/* Whether this thread has the lock of the state. A fork at such a time is the driver's own, for a program that it runs, and is left to it. */
static _Thread_local bool has_state;

static void take_state(void)
{
    dml_lock_acquire(&state.lock);
    has_state = true;
}

static void give_state(void)
{
    has_state = false;
    dml_lock_release(&state.lock);
}

static void before_fork(void)
{
    if (has_state)
        return;
    dml_lock_acquire(&state.lock);
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            dml_context_quiesce(state.contexts[i]);
}

static void give_back_after_fork(void)
{
    if (has_state)
        return;
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            dml_context_resume(state.contexts[i]);
    dml_lock_release(&state.lock);
}

/* The parent's handles work no more here, not even for destroying: the child leaves them alone and starts anew. */
static void after_fork_in_child(void)
{
    if (has_state)
        return;
    give_back_after_fork(); /* a call of this thread may still have to find its way out of a context */
    bool shut = state.shut;
    memset(&state, 0, sizeof state);
    state.lock = (dml_lock)DML_LOCK_INIT;
    state.shut = shut;
    dml_generation++;
}

static void watch_forks(void)
{
    static bool watching;
    if (!watching)
        watching = pthread_atfork(before_fork, give_back_after_fork, after_fork_in_child) == 0;
}

void dml_vk_sleep(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}
#else
static void take_state(void)
{
    dml_lock_acquire(&state.lock);
}

static void give_state(void)
{
    dml_lock_release(&state.lock);
}

static void watch_forks(void)
{
}

void dml_vk_sleep(int milliseconds)
{
    Sleep((DWORD)milliseconds);
}
#endif

bool (*dml_interrupted)(void);

/* Forks are watched from here on: a lock that another thread holds before that would stay taken in a child. */
void dml_vk_open(bool (*interrupted)(void))
{
    watch_forks();
    dml_interrupted = interrupted;
}

/* --- the list -------------------------------------------------------------------------------------------------- */

/* With the lock held. Where there is no device it is tried again at the next call: memory may have been short, or a driver is installed
 * now. */
static void ready(void)
{
    if (state.shut)
        dml_fail(&state.status, DML_EXITING, "the interpreter is exiting");
    else if (state.list.count == 0)
        dml_devices_list(&state.list, &state.status);
}

int dml_vk_device_count(dml_status *status)
{
    take_state();
    ready();
    int count = state.list.count;
    if (status && count == 0)
        *status = state.status;
    give_state();
    return count;
}

const dml_device_info *dml_vk_device(int index)
{
    return &state.list.devices[index].info;
}

static uint64_t abandoned_of(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    uint64_t count = context->abandoned;
    dml_lock_release(&context->lock);
    return count;
}

/* A lost context counts as one, besides its submissions. */
static uint64_t left_alive(dml_context *context)
{
    return abandoned_of(context) + context->lost;
}

uint64_t dml_vk_abandoned(void)
{
    take_state();
    uint64_t count = state.abandoned;
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            count += left_alive(state.contexts[i]);
    give_state();
    return count;
}

/* The context of a lost device, of which somebody was told, is abandoned: threads may still be looking at it. */
static void retire_lost(int index)
{
    if (state.contexts[index] && state.contexts[index]->lost) {
        state.abandoned += left_alive(state.contexts[index]);
        state.contexts[index] = NULL;
    }
}

dml_code dml_vk_context(int index, dml_context **context, dml_status *status)
{
    dml_code code = DML_OK;
    take_state();
    ready();
    if (index >= state.list.count) {
        *status = state.status;
        code = state.list.count == 0 ? status->code : dml_fail(status, DML_NO_DEVICE, "device %d is there no more", index);
    } else if (!state.list.devices[index].info.usable) {
        code = dml_fail(status, DML_NO_DEVICE, "%s cannot be used: %s", state.list.devices[index].info.name,
                        state.list.devices[index].info.reason);
    } else {
        retire_lost(index);
        if (!state.contexts[index]) {
            code = dml_context_create(state.list.devices[index].physical, &state.contexts[index], status);
            dml_child_exit_watch();
        }
        *context = state.contexts[index];
    }
    give_state();
    return code;
}

/* Calls `visit` with every context there is. Of what fails, `status` tells the first, or that a signal's handler wants to end it all. In a
 * child that such a handler forked it ends at once: the contexts are the parent's. */
static dml_code visit_contexts(dml_code (*visit)(dml_context *, dml_status *), dml_status *status)
{
    dml_context *contexts[DML_MAX_DEVICES];
    take_state();
    int count = state.list.count;
    uint32_t generation = dml_generation;
    for (int i = 0; i < count; i++)
        retire_lost(i);
    memcpy(contexts, state.contexts, sizeof contexts);
    give_state();
    dml_code code = DML_OK;
    for (int i = 0; i < count && code != DML_INTERRUPTED && generation == dml_generation; i++) {
        dml_status failure;
        if (contexts[i] && visit(contexts[i], &failure) && (!code || failure.code == DML_INTERRUPTED)) {
            *status = failure;
            code = failure.code;
        }
    }
    return code;
}

dml_code dml_vk_wait_all(dml_status *status)
{
    return visit_contexts(dml_vk_wait, status);
}

static dml_code empty_pool(dml_context *context, dml_status *status)
{
    if (dml_vk_wait(context, status))
        return status->code;
    dml_allocations_trim(context, 0);
    if (dml_context_enter(context, status))
        return status->code;
    dml_stagings_destroy(context);
    dml_context_leave(context);
    return DML_OK;
}

dml_code dml_vk_empty_pools(dml_status *status)
{
    return visit_contexts(empty_pool, status);
}

bool dml_vk_override(const char *name, int64_t value)
{
    take_state();
    bool known = dml_device_override(name, value);
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            dml_context_override(state.contexts[i]);
    give_state();
    return known;
}

/* Out of memory may pass, and at exit there is no later. */
static bool wait_idle(dml_context *context)
{
    VkResult result = VK_NOT_READY;
    for (int tries = 0; result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST && tries < 3; tries++)
        result = context->vk.vkQueueWaitIdle(context->queue);
    return result == VK_SUCCESS;
}

/* No more submissions from now on; whether those there were have come to their end, for which it waits, though not for ever. */
static bool close_context(dml_context *context)
{
    bool out = dml_context_drain(context);
    dml_lock_acquire(&context->lock);
    /* Another library may still look at memory that it was lent. */
    bool exposed = dml_allocations_exposed(context);
    dml_lock_release(&context->lock);
    return out && !context->lost && !exposed && abandoned_of(context) == 0 && wait_idle(context);
}

void dml_vk_shutdown(void)
{
    take_state();
    state.shut = true;
    bool idle = state.abandoned == 0;
    for (int i = 0; i < state.list.count; i++) {
        dml_context *context = state.contexts[i];
        /* A daemon thread inside a call would find its device gone: what it uses is left to the process' end. */
        if (context && close_context(context)) {
            dml_context_close(context);
        } else if (context) {
            uint64_t left = left_alive(context);
            state.abandoned += left > 0 ? left : 1;
            idle = false;
        }
    }
    if (idle && state.list.instance)
        vkDestroyInstance(state.list.instance, NULL);
    state.list.instance = NULL;
    state.list.count = 0;
    give_state();
}
