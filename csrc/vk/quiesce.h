/* Who is inside a context, and waiting until nobody is: before a fork, and at exit. How the child of a fork exits. */
#ifndef DML_VK_QUIESCE_H
#define DML_VK_QUIESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/status.h"
#include "plan/plan.h"

typedef struct dml_context dml_context;

void dml_quiesce_init(dml_context *context);

/* Around all that uses a context's handles: meanwhile it is not closed, and the process does not fork. Not to be nested.
 * Fails once the context is closed, or its device is lost. */
dml_code dml_context_enter(dml_context *context, dml_status *status);
void dml_context_leave(dml_context *context);

/* The same to free memory, which a caller may do who is inside already: it does not wait for a fork. False once closed. */
bool dml_context_enter_to_free(dml_context *context);

/* Whether the caller, who is inside, is alone there. The lock is held. */
bool dml_context_alone(const dml_context *context);

/* For a caller who is inside: runs `work`, which may take long, or fork. False in the child of such a fork, where the
 * context is an inherited one and must not be used. */
bool dml_context_outside(dml_context *context, bool (*work)(void), bool *result);

/* For a caller who is inside: dml_host_run, for which a fork need not wait. It uses no driver, and holds no lock. The child
 * has a partly written destination, as of any other copy that a thread of its parent was making. */
void dml_context_run_on_host(dml_context *context, const dml_plan *plan, const void *src, void *dst);

/* For a caller who is inside: acquires a lock that may be held during a fork by another one. */
void dml_context_acquire_lock(dml_context *context, dml_lock *lock);

/* Before a fork: waits until nobody is in the driver and the queue is idle, and keeps everybody out until one of the other
 * two. The context's lock is held in between. */
void dml_context_quiesce(dml_context *context);
void dml_context_resume(dml_context *context);
void dml_context_resume_in_child(dml_context *context);

/* Lets nobody enter any more, and waits up to ten seconds until all have left; whether they have. */
bool dml_context_drain(dml_context *context);

/* Whether the device of a drained context becomes idle. */
bool dml_context_wait_idle(dml_context *context);

/* How many forks there are between this process and the one that loaded dmlops; what was made under another value is
 * inherited. */
uint32_t dml_fork_generation(void);
void dml_fork_count(void);

/* Keeps a forked child that leaves by exit() from all exit handlers registered so far. Call after a driver may have registered
 * one. */
void dml_child_exit_watch(void);

#endif
