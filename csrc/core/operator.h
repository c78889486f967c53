/* What all operators share: how arrays are described, and common rules.
 *
 * Each operator has a file op_*.c: *_shape checks every rule and gives the result's shape, *_plan or *_program (which cannot
 * fail) makes the plan or the program once the result's strides are known. See the operators' documents for where each rule
 * comes from. Nothing here knows Python, NumPy or Vulkan.
 */
#ifndef DML_CORE_OPERATOR_H
#define DML_CORE_OPERATOR_H

#include "base/status.h"
#include "core/plan.h"

/* How an array lies in memory; strides in bytes, from the array's first element. */
typedef struct dml_tensor {
    int rank;
    int64_t item;
    int64_t shape[DML_MAX_RANK];
    int64_t strides[DML_MAX_RANK];
} dml_tensor;

/* A sequence of ints as the caller gave it; `count` may exceed what `value` holds, and is then wrong anyway. */
typedef struct dml_ints {
    int64_t count;
    int64_t value[DML_MAX_RANK];
} dml_ints;

/* Elements of an array that there is: they can be counted. */
int64_t dml_tensor_count(const dml_tensor *tensor);

/* Shape given, fills in C-contiguous strides. */
void dml_tensor_pack(dml_tensor *tensor);

/* Turns an axis counted from the end into one counted from the front. */
dml_code dml_normalize_axis(const char *name, int64_t axis, int rank, int *normalized, dml_status *status);

/* Checks that there is one entry for each of the `rank` axes of `of`; NULL is fine. */
dml_code dml_check_entries(const char *name, const dml_ints *ints, const char *of, int rank, dml_status *status);

/* Checks that entry `k` is not below `least`. */
dml_code dml_check_least(const char *name, const dml_ints *ints, int k, int64_t least, dml_status *status);

/* Checks that an argument has an entry for each spatial axis of an input with channels. `single`: it was one int for all of
 * them, and axis 0 of the input is batch. */
dml_code dml_check_spatial(const char *name, const dml_ints *ints, bool single, int rank, dml_status *status);

/* Multiplies the size of an axis by an entry of an argument, where there are as many indices. */
dml_code dml_multiply_axis(const char *name, int64_t by, int axis, int64_t *size, dml_status *status);

#endif
