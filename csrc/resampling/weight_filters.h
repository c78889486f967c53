/* Filters of Pillow and of PyTorch, which are the same: how much an input counts that lies `x` from an output. */
#ifndef DML_RESAMPLING_WEIGHT_FILTERS_H
#define DML_RESAMPLING_WEIGHT_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dml_filter {
    DML_FILTER_BOX,
    DML_FILTER_BILINEAR,
    DML_FILTER_HAMMING,
    DML_FILTER_BICUBIC,
    DML_FILTER_LANCZOS,
    DML_FILTER_MKS2013,
    DML_FILTER_MKS2021,
} dml_filter;

/* Taps are made by so many, for vector instructions: arrays have room for as many more, less one. */
enum { DML_TAPS_TOGETHER = 2 };

/* The taps of an output: inputs from `first` on. An input lies (input - centre + 0.5) * inverse from it. */
typedef struct dml_filter_taps {
    int64_t first, count;
    double centre, inverse;
} dml_filter_taps;

/* The sum of all. `near` asks for values that need no sine. They differ by less than 1e-13, in their sum by less than that for
 * each. */
double dml_filter_run(dml_filter filter, const dml_filter_taps *taps, bool near, double *values);

/* Whether `near` changes anything. */
static inline bool dml_filter_has_near(dml_filter filter)
{
    return filter == DML_FILTER_HAMMING || filter == DML_FILTER_LANCZOS;
}

/* How far a weight of values that are near, divided by their sum, may be from its own, where that sum is above 0.5. */
#define DML_NEAR_ENOUGH 1e-12

/* Weights in fixed point, of 2**shift, rounded half away from zero: the values divided by `sum`, if that is not 0. False if
 * values that are `near` leave open what a weight is. */
bool dml_filter_round(const double *values, int64_t count, double sum, int32_t shift, bool near, int32_t *weights);

#endif
