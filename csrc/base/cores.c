#define _GNU_SOURCE /* sched_getaffinity */
#include "base/cores.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

int dml_machine_cores(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (int)info.dwNumberOfProcessors;
}

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
#else
#include <unistd.h>

int dml_machine_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

#ifdef __linux__
#include <sched.h>

int dml_usable_cores(void)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) < 0) /* more than 1,024 cores */
        return dml_machine_cores();
    return CPU_COUNT(&usable);
}
#else
int dml_usable_cores(void)
{
    return dml_machine_cores();
}
#endif
#endif
