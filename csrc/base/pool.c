#include "base/pool.h"

#include "base/machine.h"

enum { CLASSES_LOG2 = 3, CLASSES = DML_CLASSES_PER_DOUBLING };

void dml_pool_add(dml_pool *pool, dml_pooled *block)
{
    dml_pooled **top = &pool->top[block->size_class];
    block->added = dml_nanoseconds();
    block->above = NULL;
    block->below = *top;
    if (block->below)
        block->below->above = block;
    *top = block;
    block->newer = NULL;
    block->older = pool->newest;
    *(block->older ? &block->older->newer : &pool->oldest) = block;
    pool->newest = block;
    pool->bytes += block->capacity;
    pool->count++;
}

void dml_pool_remove(dml_pool *pool, dml_pooled *block)
{
    *(block->above ? &block->above->below : &pool->top[block->size_class]) = block->below;
    if (block->below)
        block->below->above = block->above;
    *(block->newer ? &block->newer->older : &pool->newest) = block->older;
    *(block->older ? &block->older->newer : &pool->oldest) = block->newer;
    pool->bytes -= block->capacity;
    pool->count--;
}

static int log2_of(size_t value)
{
#ifdef __GNUC__
    return 63 - __builtin_clzll(value);
#else
    int log2 = 0;
    while (value >>= 1)
        log2++;
    return log2;
#endif
}

size_t dml_round_up(size_t bytes, size_t power_of_two)
{
    return (bytes + power_of_two - 1) & ~(power_of_two - 1);
}

int dml_size_class(size_t bytes, size_t unit, size_t *capacity)
{
    size_t spacing = (size_t)1 << log2_of(bytes) >> CLASSES_LOG2;
    *capacity = dml_round_up(bytes, spacing > unit ? spacing : unit);
    int log2 = log2_of(*capacity);
    /* 8 bytes or more: NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift) */
    return log2 << CLASSES_LOG2 | (int)(*capacity >> (log2 - CLASSES_LOG2) & (CLASSES - 1));
}
