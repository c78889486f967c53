#define _GNU_SOURCE /* MAP_ANONYMOUS and madvise */
#include "base/pages.h"

#include <stdint.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

size_t dml_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

void *dml_pages_map(size_t front, size_t bytes)
{
    return VirtualAlloc(NULL, front + bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void dml_pages_unmap(void *pages, size_t size)
{
    (void)size;
    if (pages)
        VirtualFree(pages, 0, MEM_RELEASE);
}
#else
#include <sys/mman.h>
#include <unistd.h>

size_t dml_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *dml_pages_map(size_t front, size_t bytes)
{
    size_t page = dml_page_size(), needed = front + (bytes + page - 1) / page * page;
    size_t slack = bytes >= DML_HUGE_PAGE ? DML_HUGE_PAGE : 0;
    char *pages = mmap(NULL, needed + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (!slack)
        return pages;
    /* Unmap what is left over on either side. */
    size_t before = -((uintptr_t)pages + front) & (DML_HUGE_PAGE - 1);
    if (before > 0)
        munmap(pages, before);
    munmap(pages + before + needed, slack - before);
#ifdef MADV_HUGEPAGE
    madvise(pages + before + front, bytes, MADV_HUGEPAGE); /* only advice: a kernel may ignore it */
#endif
    return pages + before;
}

void dml_pages_unmap(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size);
}
#endif

#ifdef __linux__
#ifndef MADV_FREE
#define MADV_FREE 8 /* Linux 4.5, glibc 2.24 */
#endif

bool dml_pages_release(void *pages, size_t size, size_t resident)
{
    return madvise((char *)pages + resident, size - resident, MADV_DONTNEED) == 0;
}

bool dml_pages_offer(void *pages, size_t size, size_t resident)
{
    return madvise((char *)pages + resident, size - resident, MADV_FREE) == 0;
}
#else
bool dml_pages_release(void *pages, size_t size, size_t resident)
{
    (void)pages, (void)size, (void)resident; /* other systems may ignore MADV_DONTNEED */
    return false;
}

bool dml_pages_offer(void *pages, size_t size, size_t resident)
{
    (void)pages, (void)size, (void)resident;
    return false;
}
#endif
