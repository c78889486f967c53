/* The rules by which weights are made: one file weights_*.c for each library whose results they give. All arithmetic is in
 * double, or float32 where the library has that, an operation at a time: the build never contracts two into one. */
#ifndef DML_RESAMPLING_WEIGHT_RULES_H
#define DML_RESAMPLING_WEIGHT_RULES_H

#include <math.h>

#include "plan/plan.h"
#include "resampling/weight_filters.h"
#include "resampling/weights.h"

typedef enum dml_weight_rule {
    DML_RULE_PILLOW,               /* from `from` to `to`; filters: dml_filter */
    DML_RULE_TORCHVISION,          /* filters: bilinear, bicubic, lanczos; antialiased */
    DML_RULE_TORCHVISION_PLAIN,    /* bilinear, bicubic: not so */
    DML_RULE_OPENCV_LINEAR,        /* from here on `from` is how many outputs there are for each input; of columns */
    DML_RULE_OPENCV_LINEAR_ROWS,   /* of rows */
    DML_RULE_OPENCV_LINEAR_EXACT,  /* of both */
    DML_RULE_OPENCV_ENLARGED,      /* area, where some axis is enlarged: of columns */
    DML_RULE_OPENCV_ENLARGED_ROWS, /* of rows */
    DML_RULE_OPENCV_AREA,          /* of both */
    DML_RULE_OPENCV_CUBIC,         /* of columns */
    DML_RULE_OPENCV_CUBIC_ROWS,    /* of rows */
    DML_RULE_OPENCV_LANCZOS4,      /* of both */
    DML_RULE_BLOCKS,               /* the sum of `from` inputs, of fewer at the end */
} dml_weight_rule;

/* Weights as a rule makes them: row i has count[i] taps from first[i] on, which may lie outside the inputs. */
typedef struct dml_weights_draft {
    const dml_weights_key *key;
    int64_t room; /* for taps, of each row */
    int64_t *first;
    int64_t *count;
    int32_t *values; /* outputs * room, and some to spare; int32, or float32 as bits */
    double *scratch; /* the same */
    int32_t shift;
    bool is_float;
    bool folds; /* taps outside the inputs may be added to those at the edge */
} dml_weights_draft;

static inline int32_t *dml_draft_row(const dml_weights_draft *draft, int64_t output)
{
    return draft->values + output * draft->room;
}

/* New weights by a rule, without what is private in them; NULL if there is no memory. The caller frees them and their rows. */
dml_weights *dml_weights_make(const dml_weights_key *key);

/* How many taps a row may have; and the rows, once there is room. */
int64_t dml_pillow_room(const dml_weights_key *key);
void dml_pillow_weights(dml_weights_draft *draft);

int64_t dml_torchvision_room(const dml_weights_key *key);
void dml_torchvision_weights(dml_weights_draft *draft);

int64_t dml_opencv_room(const dml_weights_key *key);
void dml_opencv_weights(dml_weights_draft *draft);

/* Rounds half away from zero. */
static inline int32_t dml_round_away(double value)
{
    return (int32_t)(value + copysign(0.5, value));
}

#endif
