#include "vk/instance.h"

#include <stdio.h>
#include <string.h>

#include "base/events.h"
#include "base/fork.h"
#include "base/machine.h"
#include "vk/allocation_pool.h"
#include "vk/listing.h"
#include "vk/queue.h"
#include "vk/quiesce.h"
#include "vk/run.h"

static struct {
    dml_lock lock; /* of all below, and held while a context is made */
    bool closed;   /* the interpreter is exiting */
    dml_device_list list;
    dml_status status; /* why there are no devices */
    dml_context *contexts[DML_MAX_DEVICES];
    uint64_t abandoned; /* by contexts that were lost or left at exit: at least one each */
    dml_search search;
} state = {.lock = DML_LOCK_INIT};

/* Whether this thread holds the lock of the state. If it forks meanwhile, a driver runs a program, and the handlers do
 * nothing. */
static _Thread_local bool has_state;
static _Thread_local const char *because = ""; /* see dml_vk_because */

static void acquire_state(void)
{
    dml_lock_acquire(&state.lock);
    has_state = true;
}

static void release_state(void)
{
    has_state = false;
    dml_lock_release(&state.lock);
}

/* --- fork ------------------------------------------------------------------------------------------------------ */

static void before_fork(void)
{
    if (has_state)
        return;
    dml_lock_acquire(&state.lock);
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            dml_context_quiesce(state.contexts[i]);
}

static void resume_contexts(void (*resume)(dml_context *))
{
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            resume(state.contexts[i]);
    dml_lock_release(&state.lock);
}

static void after_fork_in_parent(void)
{
    if (!has_state)
        resume_contexts(dml_context_resume);
}

/* Inherited handles must not be used here, not even to destroy them: the child forgets them and starts anew. */
static void after_fork_in_child(void)
{
    if (has_state)
        return;
    resume_contexts(dml_context_resume_in_child); /* the call that forked, of this thread, still has to leave its context */
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i]) /* uncovered: only in a forked child, which writes no counts */
            dml_device_forked(&state.list.devices[i]);
    state.lock = (dml_lock)DML_LOCK_INIT;
    memset(&state.list, 0, sizeof state.list);
    memset(state.contexts, 0, sizeof state.contexts);
    state.abandoned = 0;
    dml_fork_count();
}

/* Forks are watched from here on: a child must not inherit a lock that another thread holds. */
void dml_vk_open(void)
{
    dml_fork_watch(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* --- the list -------------------------------------------------------------------------------------------------- */

static void say_what_is_passed_over(void)
{
    static bool said; /* while there is no usable device, the list is made again and again */
    for (int i = 0; i < state.list.count && !said; i++)
        if (!state.list.devices[i].info.usable)
            dml_event_add(DML_EVENT_WARNING, "passed over %.100s (%.60s): %.120s", state.list.devices[i].info.name,
                          state.list.devices[i].info.driver, state.list.devices[i].info.reason);
    if (state.list.count == 0 && !said)
        dml_event_add(DML_EVENT_WARNING, "no Vulkan device: %.280s", state.status.message);
    said = true;
}

/* With the lock held: lists the devices. A list without a usable one is made anew by the next call: memory may have been short,
 * the process less restricted, or a driver has been installed since. Without a usable device there are no contexts. */
static void list_devices(void)
{
    if (state.closed) {
        dml_fail(&state.status, DML_EXITING, "the interpreter is exiting");
    } else if (state.list.count == 0 || !state.list.devices[0].info.usable) {
        dml_devices_close(&state.list);
        state.list.count = 0;
        dml_devices_list(&state.list, &state.search, &state.status);
        say_what_is_passed_over();
    }
}

void dml_vk_set_search(const dml_search *search)
{
    acquire_state();
    state.search = *search;
    release_state();
}

int dml_vk_device_count(dml_status *status)
{
    acquire_state();
    list_devices();
    int count = state.list.count;
    if (status && count == 0)
        *status = state.status;
    release_state();
    return count;
}

bool dml_vk_device(int index, dml_device_info *info)
{
    static const dml_device_info gone = {.type = "other", .reason = "it is there no more"};
    acquire_state();
    const bool there = index < state.list.count;
    *info = there ? state.list.devices[index].info : gone;
    release_state();
    return there;
}

bool dml_vk_way(int index, dml_way *way)
{
    acquire_state();
    const bool there = index < state.list.way_count;
    if (there)
        *way = state.list.instances[index].way;
    release_state();
    return there;
}

void dml_vk_probe(const char *library, dml_probe *probe)
{
    dml_search search = {.alone = true};
    dml_device_list list = {.count = 0};
    dml_status status;
    snprintf(search.driver, sizeof search.driver, "%s", library);
    dml_devices_list(&list, &search, &status);
    probe->way = list.instances[0].way;
    probe->count = list.count < DML_PROBED_DEVICES ? list.count : DML_PROBED_DEVICES;
    for (int i = 0; i < probe->count; i++)
        probe->devices[i] = list.devices[i].info;
    dml_devices_close(&list);
}

uint64_t dml_vk_abandoned(void)
{
    acquire_state();
    uint64_t count = state.abandoned;
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            count += dml_queue_abandoned(state.contexts[i]);
    release_state();
    return count;
}

/* The context of a lost device is leaked, since threads may still look at it, and makes room for a new one. */
static void abandon_lost(int index)
{
    if (state.contexts[index] && state.contexts[index]->lost) {
        state.abandoned += dml_queue_abandoned(state.contexts[index]);
        state.contexts[index] = NULL;
    }
}

const dml_traits *dml_vk_traits(const dml_context *context)
{
    return &context->traits.core;
}

void dml_vk_because(const char *why)
{
    because = why;
}

dml_code dml_vk_context(int index, dml_context **context, dml_status *status)
{
    dml_code code = DML_OK;
    acquire_state();
    list_devices();
    if (index >= state.list.count) {
        *status = state.status;
        code = state.list.count == 0 ? status->code : dml_fail(status, DML_NO_DEVICE, "device %d is there no more", index);
    } else if (!state.list.devices[index].info.usable) { /* uncovered: Python refuses such a device first */
        code = dml_fail(status, DML_NO_DEVICE, "%s cannot be used: %s", state.list.devices[index].info.name,
                        state.list.devices[index].info.reason);
    } else {
        abandon_lost(index);
        if (!state.contexts[index]) {
            const dml_device_info *info = &state.list.devices[index].info;
            const int64_t start = dml_nanoseconds();
            code = dml_context_create(&state.list.devices[index], &state.contexts[index], status);
            dml_child_exit_watch();
            dml_event_add(code ? DML_EVENT_WARNING : DML_EVENT_INFO, "%s device %d, %.100s (%.60s)%s, in %lld ms%s%.100s",
                          code ? "could not open" : "opened", index, info->name, info->driver, because,
                          (long long)((dml_nanoseconds() - start) / 1000000), code ? ": " : "", code ? status->message : "");
        }
        *context = state.contexts[index];
    }
    release_state();
    return code;
}

dml_code dml_vk_visit(dml_code (*visit)(dml_context *, dml_status *), dml_status *status)
{
    dml_context *contexts[DML_MAX_DEVICES];
    acquire_state();
    int count = state.list.count;
    uint32_t generation = dml_fork_generation();
    for (int i = 0; i < count; i++)
        abandon_lost(i);
    memcpy(contexts, state.contexts, sizeof contexts);
    release_state();
    dml_code code = DML_OK;
    for (int i = 0; i < count && code != DML_INTERRUPTED && generation == dml_fork_generation(); i++) {
        dml_status failure;
        if (contexts[i] && visit(contexts[i], &failure) && (!code || failure.code == DML_INTERRUPTED)) {
            *status = failure;
            code = failure.code;
        }
    }
    return code;
}

bool dml_vk_override(const char *name, int64_t value)
{
    acquire_state();
    bool known = dml_traits_set_override(name, value);
    for (int i = 0; i < state.list.count; i++)
        if (state.contexts[i])
            dml_traits_override(&state.contexts[i]->offered, &state.contexts[i]->traits);
    release_state();
    return known;
}

/* Closes a context for calls; whether it may be destroyed: no call is inside, the device is idle, and no other library has
 * the address of an allocation. */
static bool drain_context(dml_context *context)
{
    bool drained = dml_context_drain(context);
    return drained && dml_queue_abandoned(context) == 0 && !dml_allocations_exposed(context) && dml_context_wait_idle(context);
}

void dml_vk_shutdown(void)
{
    acquire_state();
    state.closed = true;
    for (int i = 0; i < state.list.count; i++) {
        dml_context *context = state.contexts[i];
        /* A daemon thread may still be inside a call: what it uses is left to the end of the process. */
        if (context && drain_context(context)) {
            dml_context_close(context);
        } else if (context) {
            uint64_t left = dml_queue_abandoned(context);
            state.abandoned += left > 0 ? left : 1;
        }
    }
    if (state.abandoned == 0)
        dml_devices_close(&state.list);
    state.list.count = 0;
    release_state();
}
