#include "base/machine_memory.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

dml_machine_bytes dml_machine_memory(void)
{
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? (dml_machine_bytes){memory.ullTotalPhys, memory.ullAvailPhys}
                                         : (dml_machine_bytes){0, 0};
}
#else
#include <stdio.h>
#include <unistd.h>

/* Of sysconf's number of pages. */
static unsigned long long bytes_of(int name)
{
    long pages = sysconf(name), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (unsigned long long)pages * (unsigned long long)page : 0;
}

dml_machine_bytes dml_machine_memory(void)
{
    dml_machine_bytes bytes = {bytes_of(_SC_PHYS_PAGES), 0};
#ifdef __linux__
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    if (file && fscanf(file, "MemTotal: %*u kB MemFree: %*u kB MemAvailable: %llu", &kib) == 1)
        bytes.available = kib * 1024;
    else
        bytes.available = bytes_of(_SC_AVPHYS_PAGES);
    if (file)
        fclose(file);
#endif
    return bytes;
}
#endif
