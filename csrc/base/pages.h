/* Whole pages of memory from the system. Large memory lies on huge pages where the system grants them: page faults on small
 * ones cost more than writing them. */
#ifndef DML_BASE_PAGES_H
#define DML_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { DML_HUGE_PAGE = 2 << 20 };

size_t dml_page_size(void);

/* `front` bytes (0 or a page), then `bytes`, which begin on a huge page if they are that many. All are zero. NULL without
 * memory. */
void *dml_pages_map(size_t front, size_t bytes);

/* `size` is that of front and bytes together; NULL is fine. */
void dml_pages_unmap(void *pages, size_t size);

/* Returns all pages behind the first `resident` bytes to the system, but not their addresses: the next use finds zeroed
 * pages. `lazily`: the system takes them only when it, or the process's control group, runs short of memory; what is written
 * until then costs no page fault. False where the system cannot do this. */
bool dml_pages_release(void *pages, size_t size, size_t resident, bool lazily);

#endif
