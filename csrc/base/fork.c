#include "base/fork.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef _WIN32
void dml_fork_hold(dml_lock *lock)
{
    (void)lock;
}

void dml_fork_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child;
}
#else
enum { MOST = 8 };

typedef struct watch {
    dml_lock *lock; /* that is held; or NULL, and these are called: */
    void (*before)(void), (*in_parent)(void), (*in_child)(void);
} watch;

static struct {
    bool watching;
    int count;
    watch watches[MOST];
} state;

static void before_fork(void)
{
    for (int i = state.count - 1; i >= 0; i--)
        if (state.watches[i].lock)
            dml_lock_acquire(state.watches[i].lock);
        else if (state.watches[i].before)
            state.watches[i].before();
}

static void after_fork(bool in_child)
{
    for (int i = 0; i < state.count; i++) {
        const watch *one = &state.watches[i];
        void (*after)(void) = in_child ? one->in_child : one->in_parent;
        if (one->lock)
            dml_lock_release(one->lock);
        else if (after)
            after();
    }
}

static void after_fork_in_parent(void)
{
    after_fork(false);
}

static void after_fork_in_child(void) /* uncovered: only in a forked child, which writes no counts */
{
    after_fork(true);
}

static void add(watch added)
{
    int i = 0;
    while (i < state.count && (state.watches[i].lock != added.lock || state.watches[i].in_child != added.in_child))
        i++;
    if (i == state.count)
        state.watches[state.count++] = added;
    if (!state.watching) /* it fails for lack of memory only; then a fork is a risk until the next one is registered */
        state.watching = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

void dml_fork_hold(dml_lock *lock)
{
    add((watch){.lock = lock});
}

void dml_fork_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    add((watch){NULL, before, in_parent, in_child});
}
#endif
