/* A mutex and a condition variable that need no destroying, and a counter that threads share. Windows has no pthreads, macOS no
 * threads.h. */
#ifndef DML_BASE_LOCK_H
#define DML_BASE_LOCK_H

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK dml_lock;
typedef CONDITION_VARIABLE dml_cond;
#define DML_LOCK_INIT SRWLOCK_INIT
static inline void dml_lock_acquire(dml_lock *lock)
{
    AcquireSRWLockExclusive(lock);
}
static inline void dml_lock_release(dml_lock *lock)
{
    ReleaseSRWLockExclusive(lock);
}
static inline int dml_count_add(int *count, int by)
{
    return InterlockedExchangeAdd((volatile LONG *)count, by) + by;
}
#else
#include <pthread.h>
typedef pthread_mutex_t dml_lock;
typedef pthread_cond_t dml_cond;
#define DML_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
static inline void dml_lock_acquire(dml_lock *lock)
{
    pthread_mutex_lock(lock);
}
static inline void dml_lock_release(dml_lock *lock)
{
    pthread_mutex_unlock(lock);
}
/* Adds to a count, and returns the sum. */
static inline int dml_count_add(int *count, int by)
{
    return __atomic_add_fetch(count, by, __ATOMIC_ACQ_REL);
}
#endif

/* Also in the child of a fork, before any other use there: a condition variable that has waiters in the parent is unusable. */
void dml_cond_init(dml_cond *cond);

/* Both release the lock while they wait, and may return early; the second returns after `milliseconds` at the latest. */
void dml_cond_wait(dml_cond *cond, dml_lock *lock);
void dml_cond_wait_for(dml_cond *cond, dml_lock *lock, int milliseconds);

void dml_cond_wake_all(dml_cond *cond);

#endif
