/* What a piece of a plan with a sum reads. */
#ifndef DML_KERNELS_REACH_H
#define DML_KERNELS_REACH_H

#include "kernels/walk.h"

/* Source bytes from the first to the last input that a piece may read, where the plan has a sum; else 0. */
int64_t dml_taps_reach(const dml_split *split);

/* Cuts the axis that is summed until its inputs leave the other axes an eighth of the limit, if they have more than that. Gives
 * the reduction. */
int64_t dml_taps_fit(dml_split *split, int64_t limit);

#endif
