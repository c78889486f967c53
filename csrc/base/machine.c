#define _GNU_SOURCE /* sched_getaffinity */
#include "base/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

int dml_usable_cores(void)
{
    DWORD_PTR process, machine;
    int cores = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &machine))
        return 1;
    for (; process; process &= process - 1)
        cores++;
    return cores > 0 ? cores : 1;
}

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
#include <unistd.h>

int dml_usable_cores(void)
{
#ifdef __linux__
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) /* else there are more than 1,024 */
        return CPU_COUNT(&usable);
#endif
    const long cores = sysconf(_SC_NPROCESSORS_ONLN); /* uncovered: needs another system or driver */
    return cores > 0 ? (int)cores : 1;                /* uncovered: needs another system or driver */
}

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

unsigned long long dml_machine_memory(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : 0;
#elif defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (unsigned long long)pages * (unsigned long long)page : 0;
#else
    return 0;
#endif
}

unsigned long long dml_machine_memory_available(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory.ullAvailPhys : 0;
#else
    unsigned long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            kib = strtoull(line + 13, NULL, 10);
    if (file)
        fclose(file);
    return kib * 1024;
#endif
}
