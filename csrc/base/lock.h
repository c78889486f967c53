/* A mutex and a condition variable that need no destroying. Windows has no pthreads, macOS no threads.h. */
#ifndef DML_BASE_LOCK_H
#define DML_BASE_LOCK_H

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK dml_lock;
typedef CONDITION_VARIABLE dml_cond;
#define DML_LOCK_INIT SRWLOCK_INIT
#define DML_COND_INIT CONDITION_VARIABLE_INIT
#define dml_lock_acquire AcquireSRWLockExclusive
#define dml_lock_release ReleaseSRWLockExclusive
#define dml_cond_wait(cond, lock) SleepConditionVariableSRW(cond, lock, INFINITE, 0)
#define dml_cond_wake_all WakeAllConditionVariable
#else
#include <pthread.h>
typedef pthread_mutex_t dml_lock;
typedef pthread_cond_t dml_cond;
#define DML_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define DML_COND_INIT PTHREAD_COND_INITIALIZER /* not for dml_cond_wait_for */
#define dml_lock_acquire pthread_mutex_lock
#define dml_lock_release pthread_mutex_unlock
#define dml_cond_wait pthread_cond_wait
#define dml_cond_wake_all pthread_cond_broadcast
#endif

/* Also in the child of a fork, before any other use there: a condition variable that has waiters in the parent is unusable. */
void dml_cond_init(dml_cond *cond);

/* As dml_cond_wait it releases the lock while it waits, and may return early; it returns after `milliseconds` at the latest. */
void dml_cond_wait_for(dml_cond *cond, dml_lock *lock, int milliseconds);

#endif
