/* The rules of the operators, and the plans they become. See operators' documents for where each rule comes from.
 *
 * Each operator is a pair: *_shape checks every rule and gives the result's shape, *_plan (which cannot fail)
 * fills in the plan once the result's strides are known. Nothing here knows Python, NumPy or Vulkan.
 */
#ifndef DML_CORE_OPERATORS_H
#define DML_CORE_OPERATORS_H

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

/* slice: `strides` and `output_sizes` may be NULL (ones; all that is reachable). */
typedef struct dml_slice_args {
    const dml_ints *offsets;
    const dml_ints *sizes;
    const dml_ints *strides;
    const dml_ints *output_sizes;
} dml_slice_args;

dml_code dml_slice_shape(const dml_tensor *input, const dml_slice_args *args, dml_tensor *output, dml_status *status);
void dml_slice_plan(const dml_tensor *input, const dml_slice_args *args, const dml_tensor *output, dml_plan *plan);

/* depth_to_space and space_to_depth. `single`: block_size was one int, for every spatial axis (axis 0 is batch). */
typedef struct dml_block_args {
    const dml_ints *block_size;
    bool single;
    bool to_space;      /* depth_to_space; else space_to_depth */
    bool crd;           /* order="CRD"; else DCR */
    bool channels_last; /* layout="NHWC" */
} dml_block_args;

dml_code dml_block_shape(const dml_tensor *input, const dml_block_args *args, dml_tensor *output, dml_status *status);
void dml_block_plan(const dml_tensor *input, const dml_block_args *args, const dml_tensor *output, dml_plan *plan);

/* reverse_subsequences. The lengths' shape is that of the argument; their values go to the plan as a dense C-order array
 * of that shape, clamped to [0, input->shape[axis]] (dml_clamp_length), which must outlive the plan.
 * `batch_axis` is -1 (normalized already), or lengths are one-dimensional along it. */
typedef struct dml_reverse_args {
    int axis;       /* normalized */
    int batch_axis; /* normalized, or -1 */
    int length_rank;
    const int64_t *length_shape;
} dml_reverse_args;

dml_code dml_reverse_shape(const dml_tensor *input, const dml_reverse_args *args, dml_tensor *output, dml_status *status);
void dml_reverse_plan(const dml_tensor *input, const dml_reverse_args *args, const int64_t *lengths, const dml_tensor *output,
                      dml_plan *plan);

#endif
