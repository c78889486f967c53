/* A mutex that needs no destroying; Windows has no pthreads, macOS no threads.h. */
#ifndef DML_BASE_LOCK_H
#define DML_BASE_LOCK_H

/* dml_count_add adds to a count that threads share, and gives the sum. */
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK dml_lock;
static inline int dml_count_add(int *count, int by)
{
    return InterlockedExchangeAdd((volatile LONG *)count, by) + by;
}
#define DML_LOCK_INIT SRWLOCK_INIT
static inline void dml_lock_acquire(dml_lock *lock)
{
    AcquireSRWLockExclusive(lock);
}
static inline void dml_lock_release(dml_lock *lock)
{
    ReleaseSRWLockExclusive(lock);
}
#else
#include <pthread.h>
typedef pthread_mutex_t dml_lock;
static inline int dml_count_add(int *count, int by)
{
    return __atomic_add_fetch(count, by, __ATOMIC_ACQ_REL);
}
#define DML_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
static inline void dml_lock_acquire(dml_lock *lock)
{
    pthread_mutex_lock(lock);
}
static inline void dml_lock_release(dml_lock *lock)
{
    pthread_mutex_unlock(lock);
}
#endif

#endif
