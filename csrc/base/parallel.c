#include "base/parallel.h"

#include <fenv.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/thread.h"

/* Memory, not cores, bounds copies: more threads would gain little. */
enum { MOST_HELPERS = 3 };

/* Helpers that are still at work are polled for so long, and a helper that was at work polls for the next loop: to be woken
 * takes some 50 us. Whoever polls leaves its core to other threads. */
enum { POLL_NS = 200000, IDLE_POLL_NS = 50000 };

/* On the stack of the thread that waits for it. */
typedef struct loop {
    dml_loop_body *body;
    const void *argument;
    int64_t next, end; /* indices that nobody has taken yet */
    int64_t until;
    fenv_t floats; /* how the thread that waits computes, such as that it takes denormals for 0 */
    int wanted;    /* helpers that may still join */
    int inside;    /* that have, and are at work */
} loop;

static struct {
    dml_lock lock; /* of all below and of the loop: held for moments, never while a body runs */
    dml_cond begun, left;
    int helpers;       /* started */
    loop *loop;        /* NULL: helpers are idle */
    atomic_uint loops; /* that helpers were called for; read without the lock, too */
} state = {.lock = DML_LOCK_INIT, .begun = DML_COND_INIT, .left = DML_COND_INIT};

/* With the lock held, which is released while bodies run: takes indices until none is left, or time is up. */
static void take_part(loop *loop)
{
    bool more = loop->next < loop->end;
    while (more) {
        int64_t index = loop->next++;
        dml_lock_release(&state.lock);
        loop->body(loop->argument, index);
        more = dml_nanoseconds() < loop->until;
        dml_lock_acquire(&state.lock);
        more = more && loop->next < loop->end;
    }
}

/* With the lock held, which is released meanwhile: waits for a loop that helpers are called for. */
static void wait_for_loop(bool polls)
{
    const unsigned loops = state.loops;
    if (polls) {
        dml_lock_release(&state.lock);
        const int64_t start = dml_nanoseconds();
        while (state.loops == loops && dml_nanoseconds() - start < IDLE_POLL_NS)
            dml_yield();
        dml_lock_acquire(&state.lock);
    }
    if (state.loops == loops)
        dml_cond_wait(&state.begun, &state.lock);
}

static DML_THREAD helper(void *number)
{
    char name[16];
    snprintf(name, sizeof name, "dmlops-host-%d", (int)(intptr_t)number);
    dml_thread_name(name);
    bool worked = false;
    dml_lock_acquire(&state.lock);
    while (true) {
        loop *loop = state.loop;
        if (!loop || loop->wanted == 0) {
            wait_for_loop(worked);
            worked = false;
            continue;
        }
        worked = true;
        loop->wanted--;
        loop->inside++;
        fesetenv(&loop->floats);
        take_part(loop);
        if (--loop->inside == 0)
            dml_cond_wake_all(&state.left);
    }
    return 0;
}

/* The child has no helpers. Whoever held the lock is a thread of the parent. */
static void after_fork_in_child(void) /* uncovered: only in a forked child, which writes no counts */
{
    state.lock = (dml_lock)DML_LOCK_INIT;
    state.helpers = 0;
    state.loop = NULL;
    dml_cond_init(&state.begun);
    dml_cond_init(&state.left);
}

void dml_parallel_open(void)
{
    dml_fork_watch(NULL, NULL, after_fork_in_child);
}

/* --- loops ---------------------------------------------------------------------------------------------------------- */

/* With the lock held: lets helpers join the loop, if there are idle ones or can be. */
static void call_helpers(loop *loop)
{
    if (state.loop || loop->wanted == 0)
        return;
    while (state.helpers < loop->wanted && dml_thread_start(helper, (void *)(intptr_t)(state.helpers + 1)))
        state.helpers++;
    fegetenv(&loop->floats);
    state.loop = loop;
    state.loops++;
    dml_cond_wake_all(&state.begun);
}

/* With the lock held: waits for those who have joined. */
static void dismiss_helpers(loop *loop)
{
    if (state.loop != loop)
        return;
    state.loop = NULL;
    const int64_t start = dml_nanoseconds();
    while (loop->inside > 0 && dml_nanoseconds() - start < POLL_NS) {
        dml_lock_release(&state.lock);
        dml_yield();
        dml_lock_acquire(&state.lock);
    }
    while (loop->inside > 0)
        dml_cond_wait(&state.left, &state.lock);
}

int dml_parallel_threads(int64_t indices)
{
    const int64_t most = indices < MOST_HELPERS + 1 ? indices : MOST_HELPERS + 1;
    const int cores = most > 1 ? dml_usable_cores() : 1;
    return most < cores ? (int)most : cores;
}

/* After `until`, by dml_nanoseconds, no further index is begun, but one at least is. Returns the first that was not begun, or
 * `end`. */
static int64_t run_until(dml_loop_body *body, const void *argument, int64_t begin, int64_t end, int64_t until)
{
    loop loop = {.body = body,
                 .argument = argument,
                 .next = begin,
                 .end = end,
                 .until = until,
                 .wanted = dml_parallel_threads(end - begin) - 1};
    dml_lock_acquire(&state.lock);
    call_helpers(&loop);
    take_part(&loop);
    dismiss_helpers(&loop);
    dml_lock_release(&state.lock);
    return loop.next;
}

bool dml_parallel(dml_loop_body *body, const void *argument, int64_t begin, int64_t end, dml_interrupt_poll *poll)
{
    for (int64_t next = begin; next < end;) {
        next = run_until(body, argument, next, end, poll ? dml_interrupt_time(poll) : INT64_MAX);
        if (dml_interrupt_stops(poll))
            return false;
    }
    return true;
}
