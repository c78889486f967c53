/* How arrays and arguments are described. */
#ifndef DML_PLAN_TENSOR_H
#define DML_PLAN_TENSOR_H

#include "plan/plan.h"

/* How an array lies in memory; strides in bytes, from the array's first element. */
typedef struct dml_tensor {
    int rank;
    int64_t item;
    int64_t shape[DML_MAX_RANK];
    int64_t strides[DML_MAX_RANK];
} dml_tensor;

/* An argument: ints as the caller gave them. `count` may exceed what `value` holds, and is then wrong anyway. */
typedef struct dml_ints {
    const char *name;
    bool given;  /* else the rest is undefined */
    bool single; /* one int where there could be several: for every spatial axis, and axis 0 is batch */
    int64_t count;
    int64_t value[DML_MAX_RANK];
} dml_ints;

/* Elements of an array that there is: they can be counted. */
int64_t dml_tensor_count(const dml_tensor *tensor);

/* Whether an array has no bytes. */
bool dml_tensor_is_empty(const dml_tensor *tensor);

/* The bytes of an array's elements, counted from its first element; none if it is empty. False if 64 bits cannot hold that. */
bool dml_tensor_span(const dml_tensor *tensor, dml_span *span);

/* Bytes from an array's first element to behind its last, those of gaps included; strides are 0 or more. */
uint64_t dml_tensor_extent(const dml_tensor *tensor);

/* Copies rank, item and shape; and strides. Of the axes there are: a tensor is a kilobyte. */
void dml_tensor_copy_shape(dml_tensor *to, const dml_tensor *from);
void dml_tensor_copy(dml_tensor *to, const dml_tensor *from);

/* Shape given, fills in C-contiguous strides. */
void dml_tensor_pack(dml_tensor *tensor);

#endif
