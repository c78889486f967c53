/* Memory for large results, some of which is kept for the next ones: the page faults of a fresh 64 MiB cost as much as copying
 * them.
 *
 * Memory comes in blocks that start on a page, those of 2 MiB and more on a huge page. A block given back is kept, up to a
 * bound for all that are kept, and handed out again for a request of the same size class, the one used last first; beyond the
 * bound those unused for longest go back to the system. Of a block's bytes at most an eighth (or a page) are there only to
 * round its size up. A block that is larger than the bound is not kept, but as much of its beginning as there is room for, and
 * the addresses of the rest: the next such block that is no larger takes its place, unless smaller ones needed the room. One
 * that was handed out three times in a row is kept whole, besides the bound, for ten seconds. Its pages are those that the
 * system takes first when it, or the process's control group, runs short of memory.
 *
 * Every function may be called from any thread, with or without the GIL, also in the child of a fork, and until the process
 * ends: arrays live longer than modules do. Knows nothing of Python.
 */
#ifndef DML_BASE_CACHE_H
#define DML_BASE_CACHE_H

#include <stddef.h>

typedef struct dml_cache_bytes {
    size_t used;  /* in blocks handed out */
    size_t kept;  /* in blocks kept for reuse */
    size_t bound; /* on `kept`: raised while a large block is kept whole */
} dml_cache_bytes;

/* Before all others, and only once; `bound` is in bytes, 0 keeps nothing. Of the blocks larger than that, those of at most
 * `largest_whole` bytes may be kept whole. */
void dml_cache_open(size_t bound, size_t largest_whole);

/* A block of at least `bytes`, whose contents are undefined; 0 counts as 1. NULL if there is no memory. */
void *dml_cache_acquire(size_t bytes);

/* `data` came from dml_cache_acquire or dml_cache_resize; NULL is fine. */
void dml_cache_release(void *data);

/* As realloc does it: another block may take the place of `data`, which stays as it is where NULL is returned. */
void *dml_cache_resize(void *data, size_t bytes);

/* Gives all that is kept back to the system. */
void dml_cache_clear(void);

dml_cache_bytes dml_cache_count(void);

#endif
