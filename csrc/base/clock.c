#define _DEFAULT_SOURCE /* clock_gettime and nanosleep */
#include "base/clock.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

int64_t dml_nanoseconds(void)
{
    LARGE_INTEGER now, per_second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&per_second);
    int64_t seconds = now.QuadPart / per_second.QuadPart, ticks = now.QuadPart % per_second.QuadPart;
    return seconds * 1000000000 + ticks * 1000000000 / per_second.QuadPart;
}

void dml_sleep(int milliseconds)
{
    Sleep((DWORD)milliseconds);
}

void dml_yield(void)
{
    SwitchToThread();
}
#else
#include <sched.h>
#include <time.h>

int64_t dml_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void dml_sleep(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

void dml_yield(void)
{
    sched_yield();
}
#endif
