/* Whether elements of arrays share bytes. Any thread may call. */
#ifndef DML_PLAN_OVERLAP_H
#define DML_PLAN_OVERLAP_H

#include "plan/tensor.h"

/* An axis of more than one element. */
typedef struct dml_reach {
    int64_t extent;
    int64_t stride; /* bytes, above 0 unless elements share all bytes */
} dml_reach;

/* The bytes of an array's elements: runs of contiguous bytes along axes. */
typedef struct dml_footprint {
    const void *space; /* arrays of different spaces share no bytes */
    int64_t begin;     /* the first byte of all, */
    int64_t end;       /* and one past the last */
    int64_t run;       /* bytes */
    int64_t index;     /* the caller's */
    int rank;
    dml_reach *axes; /* borrowed; the smallest stride first */
} dml_footprint;

/* Of an array that is not empty, with its first element at byte `first` of `space`. `axes` has room for those of the tensor. */
void dml_footprint_init(dml_footprint *footprint, const void *space, int64_t first, const dml_tensor *tensor, dml_reach *axes);

/* Whether two elements may share a byte, of one footprint or of two: `pair` becomes their indices, the smaller one first. Two
 * elements do where axes nest: each steps over all that the ones inside it reach, in all footprints that lie between each
 * other. Others count as overlapping. Changes the footprints. */
bool dml_find_overlap(dml_footprint *footprints, int64_t count, int64_t pair[2]);

#endif
