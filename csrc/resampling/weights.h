/* Weights of one axis: each output is a sum of neighbouring inputs, each of which has a weight.
 *
 * Row i is an int32, `first`, and `taps` weights, int32 or float32: tap j of output i reads input first + j. `first` never
 * decreases from row to row. Where `inside`, every tap reads one of the inputs; else an index is clamped to [0, inputs - 1]
 * where it is read. Taps that an output does not need, before or behind the others, have weight 0.
 *
 * Weights never change once they are made, and are counted references. The last some hundred axes are cached by what they were
 * made of. Every function may be called on any thread, also in the child of a fork.
 */
#ifndef DML_RESAMPLING_WEIGHTS_H
#define DML_RESAMPLING_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { DML_WEIGHTS_SLOTS = 22 };

/* What weights are made of, all zero where it is not used. */
typedef struct dml_weights_key {
    int32_t rule;   /* a dml_weight_rule */
    int32_t filter; /* of that rule */
    int64_t inputs;
    int64_t outputs;
    double from, to; /* of the inputs; OpenCV: outputs for each input, and 0 */
} dml_weights_key;

typedef struct dml_weights_private dml_weights_private;

/* The taps of an output from its first to its last that is not 0; one at least. `first` is the input of the first one. */
typedef struct dml_weights_run {
    int32_t first, count;
} dml_weights_run;

typedef struct dml_weights {
    int64_t inputs;
    int64_t outputs;
    int64_t taps;  /* 1 or more */
    int32_t shift; /* how many bits of an int32 weight are a fraction */
    bool is_float; /* weights are float32, written and read as such */
    bool inside;
    bool identity;         /* output i is input i, for as many outputs as inputs, by a weight of one */
    int64_t largest;       /* magnitude of a weight; 0 of floats, as the next one */
    int64_t sums;          /* of an output at most, the sum of its weights' magnitudes, and the magnitude of their sum, added */
    int32_t *rows;         /* outputs * (1 + taps) */
    dml_weights_run *runs; /* of each output; in the same memory */
    dml_weights_private *cached;
} dml_weights;

/* Bytes of a row. */
static inline int64_t dml_weights_item(const dml_weights *weights)
{
    return 4 * (1 + weights->taps);
}

static inline const int32_t *dml_weights_row(const dml_weights *weights, int64_t output)
{
    return weights->rows + output * (1 + weights->taps);
}

/* Before all others, and only once: forks are watched from here on. */
void dml_weights_open(void);

/* The weights of a key, as a reference of the caller's. */
dml_code dml_weights_of(const dml_weights_key *key, dml_weights **weights, dml_status *status);

/* One reference less; NULL is ignored. */
void dml_weights_release(dml_weights *weights);

/* What a kernel makes of the rows for itself, for pixels of so many items (0: of any): made by `pack`, which allocates it by
 * malloc(), when it is first asked for, and freed with the weights. `slot` is below DML_WEIGHTS_SLOTS, and always has the same
 * `pack` and items. NULL if `pack` has returned that. */
typedef void *dml_weights_pack(const dml_weights *weights, int64_t items);
const void *dml_weights_packed(dml_weights *weights, int slot, int64_t items, dml_weights_pack *pack);

#endif
