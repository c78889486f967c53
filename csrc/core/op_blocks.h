/* depth_to_space and space_to_depth. */
#ifndef DML_CORE_OP_BLOCKS_H
#define DML_CORE_OP_BLOCKS_H

#include "core/operator.h"

/* `single`: block_size was one int, for every spatial axis (axis 0 is batch). */
typedef struct dml_block_args {
    const dml_ints *block_size;
    bool single;
    bool to_space;      /* depth_to_space; else space_to_depth */
    bool crd;           /* order="CRD"; else DCR */
    bool channels_last; /* layout="NHWC" */
} dml_block_args;

dml_code dml_block_shape(const dml_tensor *input, const dml_block_args *args, dml_tensor *output, dml_status *status);
void dml_block_plan(const dml_tensor *input, const dml_block_args *args, const dml_tensor *output, dml_plan *plan);

#endif
