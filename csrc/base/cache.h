/* Memory for large results, some of which is pooled for the next ones: the page faults of a fresh 64 MiB cost as much as
 * copying them.
 *
 * Memory comes in blocks that start on a page, those of 2 MiB and more on a huge page. A block given back is pooled, up to a
 * limit for all that are, and handed out again for a request of the same size class, the one used last first; beyond the
 * limit those unused for longest go back to the system. Of a block's bytes at most an eighth (or a page) are there only to
 * round its size up. A block that is larger than the limit is not pooled, but as much of its beginning as there is room for,
 * and the addresses of the rest: the next such block that is no larger takes its place, unless smaller ones needed the room.
 * One that was handed out three times in a row (four, where there is no room) is pooled whole, besides the limit, for ten
 * seconds. Its pages are those that the system takes first when it, or the process's control group, runs short of memory.
 *
 * Every function may be called from any thread, with or without the GIL, also in the child of a fork, and until the process
 * ends: arrays live longer than modules do. Knows nothing of Python.
 */
#ifndef DML_BASE_CACHE_H
#define DML_BASE_CACHE_H

#include <stddef.h>

typedef struct dml_cache_bytes {
    size_t used;   /* in blocks handed out */
    size_t pooled; /* in blocks for reuse */
    size_t limit;  /* on `pooled`: raised while a large block is pooled whole */
} dml_cache_bytes;

/* Before all others, and only once; `limit` is in bytes, 0 pools nothing. Of the blocks larger than the limit, those of at most
 * `largest_whole` bytes may be pooled whole. What nobody has used for some seconds goes back (idle.h). */
void dml_cache_open(size_t limit, size_t largest_whole);

/* Other limits from now on: what is pooled beyond them goes back. */
void dml_cache_limit(size_t limit, size_t largest_whole);

/* A block of at least `bytes`, whose contents are undefined; 0 counts as 1. NULL if there is no memory. */
void *dml_cache_acquire(size_t bytes);

/* `data` came from dml_cache_acquire or dml_cache_resize; NULL is fine. */
void dml_cache_release(void *data);

/* As realloc does it: another block may take the place of `data`, which stays as it is where NULL is returned. */
void *dml_cache_resize(void *data, size_t bytes);

/* Gives all that is pooled back to the system. */
void dml_cache_clear(void);

dml_cache_bytes dml_cache_count(void);

#endif
