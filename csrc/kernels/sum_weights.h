/* The weights of a plan that has a sum, as kernels have them: of each entry a header of 16 bytes, which begins with `first`,
 * and the weights of whole groups of four taps. */
#ifndef DML_KERNELS_SUM_WEIGHTS_H
#define DML_KERNELS_SUM_WEIGHTS_H

#include "plan/plan.h"

typedef struct dml_sum_weights {
    int32_t groups; /* of four taps; 0: entries are bound as they are */
    bool whole;     /* no tap reads beyond the inputs: weights of clamped inputs are added to that of the input that they are
                     * clamped to */
    bool mirrored;  /* inputs are counted from the last one on, and so are taps */
    bool units;     /* `first` is a multiple of four: where a row begins elsewhere, weights of 0 are in front */
} dml_sum_weights;

/* The inputs that have a weight in a row of a plan's entries, from the first that it may read on, or the last if `mirrored`: a
 * span of indices. */
dml_span dml_sum_weights_inputs(const dml_plan *plan, const char *row, bool mirrored);

/* Bytes of an entry, a multiple of 16; and of all that a plan reads. */
int64_t dml_sum_weights_row(const dml_sum_weights *weights);
int64_t dml_sum_weights_bytes(const dml_sum_weights *weights, const dml_plan *plan);

/* Writes them. */
void dml_sum_weights_pack(const dml_sum_weights *weights, const dml_plan *plan, char *to);

#endif
