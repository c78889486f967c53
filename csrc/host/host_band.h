/* A band: some rows of the result of a resize, of one image, with both passes. */
#ifndef DML_HOST_HOST_BAND_H
#define DML_HOST_HOST_BAND_H

#include "host/host_lines.h"
#include "resampling/resize.h"

/* What the bands of a call share. An image has rows of pixels, and these have items; pixels and rows of the result are counted
 * as the resampling does. */
typedef struct dml_bands {
    const dml_resampling *resampling;
    dml_lines_pass columns, rows;                  /* the passes along columns and along rows; without weights: none */
    dml_lines_pass parts[DML_MAX_RESAMPLED_PARTS]; /* the last of them, once for each part of the result */
    bool columns_first;                            /* there are both, and that along columns comes first */
    bool skips;                                    /* the pass along rows leaves out some rows */
    int64_t height, width, items;                  /* of an image of the input */
    int64_t begin[2], end[2];                      /* rows and columns of the result that are made */
    dml_span pixels;                               /* of an input row: those that are read */
    int64_t src_row, dst_row;                      /* strides */
    bool src_lines, dst_lines; /* rows are lines, as they are; else these plans copy one, from or to an image's row: */
    dml_plan src_line, dst_line;
    const char *readable; /* behind the last byte of the input */
} dml_bands;

/* Bytes that a band needs beside its image's. */
int64_t dml_band_scratch(const dml_bands *bands);

/* Makes rows [begin, end) of an image. `src` and `dst` are those of its first pixels, of the input and of row and column
 * bands->begin of the result. */
void dml_band_run(const dml_bands *bands, const char *src, char *dst, char *scratch, int64_t begin, int64_t end);

#endif
