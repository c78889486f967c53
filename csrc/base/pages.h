/* Memory straight from the system, in whole pages, and large memory on huge ones where the system grants them: the faults of small
 * pages cost more than to fill them does. */
#ifndef DML_BASE_PAGES_H
#define DML_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { DML_HUGE_PAGE = 2 << 20 };

size_t dml_page_size(void);

/* `front` bytes, which are 0 or a page, and behind them `bytes`: these begin on a huge page, if they are as many. All are 0. NULL if
 * there is no memory. */
void *dml_pages_map(size_t front, size_t bytes);

/* `size` is front and bytes together; NULL is fine. */
void dml_pages_unmap(void *pages, size_t size);

/* Gives the memory behind the first `kept` bytes back, whole pages of it, but not their addresses: whoever uses them next finds fresh
 * pages. False where a system cannot do this. */
bool dml_pages_release(void *pages, size_t size, size_t kept);

#endif
