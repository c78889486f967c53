/* Resampling: an image's rows and columns become more or fewer, by at most two passes, one for each axis. A pass makes each
 * output a sum of inputs, as the axis' weights say, and turns the sum into a number by the pass's kind. All bits are defined:
 * they are those of Pillow, OpenCV or torchvision.
 */
#ifndef DML_CORE_RESAMPLING_H
#define DML_CORE_RESAMPLING_H

#include "core/weights.h"

/* How a pass makes an output of inputs p, weights w and parameters, tap after tap from the first. Integers have 32 bits, `>>`
 * rounds down; float32 operations are rounded one by one, to nearest even, none fused. A byte that floats become is rounded to
 * nearest even, then clipped to 0..255. */
typedef enum dml_sum_kind {
    DML_SUM_CLIP,   /* byte: (sum(w * p) + (1 << shift >> 1)) >> shift, clipped to 0..255 */
    DML_SUM_SHIFT,  /* uint16 or int32: sum(w * p) >> shift */
    DML_SUM_FLOORS, /* byte: (sum((w * p) >> shift) + 2) >> 2 */
    DML_SUM_FLOAT,  /* float32: sum(w * p), w and p as float32 */
    DML_SUM_ROUND,  /* byte: the same */
    DML_SUM_CUBIC,  /* byte: the same, w being int32, from the last tap to the first, times 2**-shift */
    DML_SUM_TIMES,  /* byte: float32(sum(w * p)) * factor */
    DML_SUM_OVER,   /* byte: float32(sum(w * p)) / factor */
    DML_SUM_REDUCE, /* byte: ((sum(w * p) + half) * multiplier) >> 24, in uint32 that wrap around */
} dml_sum_kind;

typedef struct dml_sum {
    dml_sum_kind kind;
    int32_t shift;
    uint32_t half, multiplier;
    float factor;
} dml_sum;

/* What lies between the passes, where there are two. */
typedef enum dml_between { DML_BETWEEN_BYTE, DML_BETWEEN_UINT16, DML_BETWEEN_INT32, DML_BETWEEN_FLOAT32 } dml_between;

/* A box of the result whose bytes the last pass makes by one sum: rows, columns, and the items that follow each other in a
 * column, counted over all axes behind the columns. `end` may lie beyond the result. */
typedef struct dml_resampled_part {
    int64_t begin[3];
    int64_t end[3];
    dml_sum sum;
} dml_resampled_part;

enum { DML_ROWS_AXIS, DML_COLUMNS_AXIS, DML_MAX_RESAMPLED_PARTS = 4 };

/* Owned by its maker. Nothing changes once it is made. Bytes become bytes. */
typedef struct dml_resampling {
    int passes;              /* 1 or 2 */
    int axes[2];             /* of each pass: DML_ROWS_AXIS or DML_COLUMNS_AXIS, each once */
    dml_weights *weights[2]; /* of each pass; owned */
    dml_sum first;           /* of the first of two passes */
    dml_between between;
    int part_count; /* the parts have each byte of the result once */
    dml_resampled_part parts[DML_MAX_RESAMPLED_PARTS];
} dml_resampling;

void dml_resampling_release(dml_resampling *resampling);

/* Bytes of an item between the passes. */
int64_t dml_between_item(dml_between between);

#endif
