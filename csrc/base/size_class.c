#include "base/size_class.h"

enum { STEPS_LOG2 = 3, STEPS = 1 << STEPS_LOG2 }; /* classes per doubling */

static int log2_of(size_t value)
{
    int log2 = 0;
    while (value >>= 1)
        log2++;
    return log2;
}

size_t dml_round_up(size_t bytes, size_t power_of_two)
{
    return (bytes + power_of_two - 1) & ~(power_of_two - 1);
}

int dml_size_class(size_t bytes, size_t page, size_t *capacity)
{
    size_t step = (size_t)1 << log2_of(bytes) >> STEPS_LOG2;
    *capacity = dml_round_up(bytes, step > page ? step : page);
    int log2 = log2_of(*capacity);
    /* A page or more: NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift) */
    return log2 << STEPS_LOG2 | (int)(*capacity >> (log2 - STEPS_LOG2) & (STEPS - 1));
}
