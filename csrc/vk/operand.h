/* Which memory a plan reads and writes. */
#ifndef DML_VK_OPERAND_H
#define DML_VK_OPERAND_H

#include "core/plan.h"

typedef struct dml_allocation dml_allocation;

/* One side of a plan: what its offsets count from. */
typedef struct dml_operand {
    dml_allocation *allocation; /* borrowed; NULL: host memory */
    void *data;                 /* host memory, */
    bool read_only;             /* which may lie in pages without write permission */
    uint64_t offset;            /* bytes in the allocation */
} dml_operand;

/* A plan and its memory. The operands must not overlap. */
typedef struct dml_transfer {
    const dml_plan *plan;
    dml_operand src, dst;
    dml_allocation *lengths; /* on the device, in place of plan->lengths; or NULL */
} dml_transfer;

#endif
