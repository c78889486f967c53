#include "base/machine_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <unistd.h>
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
#if defined(_SC_AVPHYS_PAGES) && defined(_SC_PAGESIZE)
    if (kib == 0) {
        long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE); /* uncovered: needs another system or driver */
        kib = pages > 0 && page > 0 ? (unsigned long long)pages * (unsigned long long)page / 1024 : 0;
    }
#endif
    return kib * 1024;
#endif
}
