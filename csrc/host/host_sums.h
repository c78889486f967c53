/* Sums of plain C, for every kind and layout: what all other kernels of sums must equal. */
#ifndef DML_HOST_HOST_SUMS_H
#define DML_HOST_HOST_SUMS_H

#include "base/compiler.h"
#include "plan/plan.h"

enum { DML_SUMS_BLOCK = 256, DML_SUMS_TAPS = 64 };

/* The sums so far of a block of elements. */
typedef union dml_sums {
    uint32_t integers[DML_SUMS_BLOCK];
    float floats[DML_SUMS_BLOCK];
} dml_sums;

/* Adds as many taps as there are `inputs`, which are the first element's; elements of the block are `stride` bytes apart. */
typedef void dml_sums_adder(dml_sums *sums, int64_t count, const char *const *inputs, int64_t stride, const int32_t *weights,
                            int64_t taps, int32_t shift);

/* Writes what the sums become. */
typedef void dml_sums_writer(const dml_sums *sums, int64_t count, char *dst, int64_t stride, const dml_sum *sum);

/* How sums of a kind are made. */
typedef struct dml_summing {
    const dml_sum *sum; /* borrowed */
    dml_sums_adder *add;
    dml_sums_writer *write;
    bool backwards; /* from the last tap to the first: so is each call of `add` */
} dml_summing;

/* To a byte. */
DML_INLINE int32_t dml_sum_clip(int32_t value)
{
    value = value < 0 ? 0 : value;
    return value > 255 ? 255 : value;
}

/* For results of `item` bytes. */
dml_summing dml_summing_of(const dml_sum *sum, dml_number number, int64_t item);

/* Where the inputs of an element lie: the one of index i is clamped to [low, high], and then at base + (i & mask) * stride. */
typedef struct dml_sum_inputs {
    const char *base;
    int64_t stride, low, high, mask;
} dml_sum_inputs;

/* Elements that share a row of weights, any number of them; they are `from` and `to` bytes apart. */
void dml_sum_run(const dml_summing *summing, const dml_sum_inputs *inputs, int64_t from, const int32_t *row, int64_t taps,
                 char *dst, int64_t to, int64_t count);

/* Runs a simplified plan that has a sum. */
void dml_host_run_sums(const dml_plan *plan, const char *src, char *dst);

#endif
