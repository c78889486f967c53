/* What is done around a fork: a child must not inherit a lock from a thread that it does not have. Not where there is no fork.
 * Each is registered once, however often it is asked for; the caller holds the GIL. */
#ifndef DML_BASE_FORK_H
#define DML_BASE_FORK_H

#include "base/lock.h"

/* Parent and child go on once the fork has held this lock. */
void dml_fork_hold(dml_lock *lock);

/* Before a fork, what was registered last comes first; after it, it comes last. `before` and `in_parent` may be NULL. */
void dml_fork_watch(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

#endif
