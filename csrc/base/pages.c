#define _GNU_SOURCE /* MAP_ANONYMOUS and madvise */
#include "base/pages.h"

#include <stdint.h>

/* How far behind `begin` there are `front` bytes that end at the beginning of a huge page. */
static size_t before_huge_page(const void *begin, size_t front)
{
    return -((uintptr_t)begin + front) & (DML_HUGE_PAGE - 1);
}

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

size_t dml_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* What is left over on either side is addresses without memory. */
void *dml_pages_map(size_t front, size_t bytes)
{
    size_t slack = bytes >= DML_HUGE_PAGE ? DML_HUGE_PAGE : 0;
    char *reserved = VirtualAlloc(NULL, front + bytes + slack, MEM_RESERVE, PAGE_NOACCESS);
    size_t before = slack ? before_huge_page(reserved, front) : 0;
    void *pages = reserved ? VirtualAlloc(reserved + before, front + bytes, MEM_COMMIT, PAGE_READWRITE) : NULL;
    if (reserved && !pages)
        VirtualFree(reserved, 0, MEM_RELEASE);
    return pages;
}

void dml_pages_unmap(void *pages, size_t size)
{
    (void)size;
    MEMORY_BASIC_INFORMATION region;
    if (pages && VirtualQuery(pages, &region, sizeof region))
        VirtualFree(region.AllocationBase, 0, MEM_RELEASE);
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
    size_t before = before_huge_page(pages, front);
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

bool dml_pages_release(void *pages, size_t size, size_t resident, bool lazily)
{
    return madvise((char *)pages + resident, size - resident, lazily ? MADV_FREE : MADV_DONTNEED) == 0;
}
#else
bool dml_pages_release(void *pages, size_t size, size_t resident, bool lazily)
{
    (void)pages, (void)size, (void)resident, (void)lazily; /* other systems may ignore MADV_DONTNEED */
    return false;
}
#endif
