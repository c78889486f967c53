/* Blocks of memory in size classes and in the order of their age: what is pooled for reuse, the least recently used first to
 * go.
 *
 * There are eight classes from each power of two to the next: at most an eighth of a block that is as large as its class is
 * there only to round its size up. The caller's lock guards a pool. A block is the caller's, and starts with a dml_pooled.
 */
#ifndef DML_BASE_POOL_H
#define DML_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { DML_CLASSES_PER_DOUBLING = 8, DML_SIZE_CLASSES = DML_CLASSES_PER_DOUBLING * 8 * (int)sizeof(size_t) };

typedef struct dml_pooled {
    size_t capacity;                  /* bytes */
    int size_class;                   /* whose list it is in */
    int64_t added;                    /* when, in nanoseconds */
    struct dml_pooled *newer, *older; /* neighbours among all blocks of its pool, by the time they were added */
    struct dml_pooled *above, *below; /* the same, among those of its class */
} dml_pooled;

typedef struct dml_pool {
    size_t bytes; /* of all blocks */
    int count;
    dml_pooled *newest, *oldest;
    dml_pooled *top[DML_SIZE_CLASSES]; /* the newest of each class */
} dml_pool;

void dml_pool_add(dml_pool *pool, dml_pooled *block);
void dml_pool_remove(dml_pool *pool, dml_pooled *block);

/* `power_of_two` bytes, or a multiple of them. */
size_t dml_round_up(size_t bytes, size_t power_of_two);

/* The class of `bytes`, from 1 to half of all addresses, and how large the blocks of that class are: a multiple of `unit`, a
 * power of two, 8 or more. */
int dml_size_class(size_t bytes, size_t unit, size_t *capacity);

#endif
