#define _DEFAULT_SOURCE /* pthread_condattr_setclock */
#include "base/lock.h"

#if defined(_WIN32)
void dml_cond_init(dml_cond *cond)
{
    InitializeConditionVariable(cond);
}

void dml_cond_wait_for(dml_cond *cond, dml_lock *lock, int milliseconds)
{
    SleepConditionVariableSRW(cond, lock, (DWORD)milliseconds, 0);
}
#elif defined(__APPLE__)
void dml_cond_init(dml_cond *cond)
{
    pthread_cond_init(cond, NULL);
}

void dml_cond_wait_for(dml_cond *cond, dml_lock *lock, int milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    pthread_cond_timedwait_relative_np(cond, lock, &time);
}
#else
#include <time.h>

void dml_cond_init(dml_cond *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void dml_cond_wait_for(dml_cond *cond, dml_lock *lock, int milliseconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += milliseconds % 1000 * 1000000L;
    end.tv_sec += milliseconds / 1000 + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(cond, lock, &end);
}
#endif
