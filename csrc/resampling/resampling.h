/* Resampling: an image's rows and columns become more or fewer, by at most two passes, one for each axis. A pass makes each
 * output a sum of inputs, as the axis' weights say, and turns the sum into a number by the pass's kind. All bits are defined:
 * they are those of Pillow, OpenCV or torchvision.
 */
#ifndef DML_RESAMPLING_RESAMPLING_H
#define DML_RESAMPLING_RESAMPLING_H

#include "plan/plan.h"
#include "resampling/weights.h"

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
    dml_number between;      /* what it makes */
    int part_count;          /* the parts have each byte of the result once */
    dml_resampled_part parts[DML_MAX_RESAMPLED_PARTS];
} dml_resampling;

typedef enum dml_library { DML_PILLOW, DML_PILLOW_REDUCE, DML_OPENCV, DML_TORCHVISION } dml_library;

typedef enum dml_opencv_mode {
    DML_OPENCV_LINEAR,
    DML_OPENCV_LINEAR_EXACT,
    DML_OPENCV_AREA,
    DML_OPENCV_CUBIC,
    DML_OPENCV_LANCZOS4,
} dml_opencv_mode;

/* What is asked of a library; of two axes rows come first. All sizes are 1 or more. */
typedef struct dml_resampling_request {
    dml_library library;
    int32_t filter; /* a dml_filter, or a dml_opencv_mode */
    int64_t inputs[2];
    int64_t outputs[2];
    double from[2]; /* Pillow: the box, in inputs; reducing: how many inputs a block has; OpenCV: fx and fy, or 0 */
    double to[2];   /* Pillow: the box' end */
    int64_t items;  /* OpenCV: of a column: channels */
    bool newer;     /* Pillow: 13 or later, whose order of passes differs; torchvision: antialiased */
} dml_resampling_request;

/* No passes: the result is the input. Pillow's box is not an integral one of the result's size, which it copies. */
dml_code dml_resampling_make(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status);

/* That of DML_OPENCV. */
dml_code dml_resampling_opencv(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status);

/* Adds a pass along an axis by weights of a key. */
dml_code dml_resampling_pass(dml_resampling *resampling, int axis, const dml_weights_key *key, dml_status *status);

/* Adds a part: of rows, columns and items. */
void dml_resampling_part(dml_resampling *resampling, const int64_t begin[3], const int64_t end[3], const dml_sum *sum);

/* Adds the parts of a result whose elements are means of blocks of inputs: at the end of an axis, blocks may have fewer of them
 * than the factors say. `count` is that of a part's blocks; of a part without any it may be 0. */
typedef dml_sum dml_block_mean(const int64_t factors[2], int64_t count, int64_t items);
void dml_resampling_blocks(dml_resampling *resampling, const dml_resampling_request *request, const int64_t factors[2],
                           dml_block_mean *mean_of);

void dml_resampling_release(dml_resampling *resampling);

#endif
