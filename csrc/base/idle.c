#include "base/idle.h"

#include <stdatomic.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/thread.h"

enum { MOST_BODIES = 4, MOST_TICK_MS = 1000 };

static struct {
    dml_lock lock; /* of all below; `awake` is read without it */
    dml_cond woken;
    dml_idle_body *bodies[MOST_BODIES];
    bool started;
    atomic_bool awake; /* the thread looks again soon */
    atomic_int after_ms;
} state = {.lock = DML_LOCK_INIT, .after_ms = 10000};

/* Whether something is left. */
static bool give_back(void)
{
    const int64_t before = dml_nanoseconds() - state.after_ms * INT64_C(1000000);
    bool left = false;
    for (int i = 0; i < MOST_BODIES && state.bodies[i]; i++)
        left = state.bodies[i](before) || left;
    return left;
}

/* What is pooled while bodies run wakes the thread again: it counts as asleep then. */
static DML_THREAD run(void *unused)
{
    (void)unused;
    dml_thread_name("dmlops-idle");
    dml_lock_acquire(&state.lock);
    while (true) {
        while (!state.awake)
            dml_cond_wait(&state.woken, &state.lock);
        dml_cond_wait_for(&state.woken, &state.lock, state.after_ms < MOST_TICK_MS ? state.after_ms : MOST_TICK_MS);
        state.awake = false;
        dml_lock_release(&state.lock);
        const bool left = give_back();
        dml_lock_acquire(&state.lock);
        state.awake = state.awake || left;
    }
    return 0;
}

/* A fork does not take the lock. It waits for threads to leave the driver, and one of these may wait for this lock, to wake the
 * idle thread. The child has no such thread, and makes the lock anew. */
static void after_fork_in_child(void) /* uncovered: only in a forked child, which writes no counts */
{
    state.lock = (dml_lock)DML_LOCK_INIT;
    state.started = state.awake = false;
}

void dml_idle_watch(dml_idle_body *body)
{
    dml_lock_acquire(&state.lock);
    int i = 0;
    while (state.bodies[i] && state.bodies[i] != body)
        i++;
    state.bodies[i] = body;
    dml_lock_release(&state.lock);
    dml_fork_watch(NULL, NULL, after_fork_in_child);
}

void dml_idle_wake(void)
{
    if (state.awake)
        return;
    dml_lock_acquire(&state.lock);
    if (!state.started) {
        dml_cond_init(&state.woken);
        state.started = dml_thread_start(run, NULL);
    }
    state.awake = state.started;
    dml_cond_wake_all(&state.woken);
    dml_lock_release(&state.lock);
}

void dml_idle_after(int milliseconds)
{
    state.after_ms = milliseconds;
}
