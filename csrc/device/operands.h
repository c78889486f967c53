/* A program, and the memory that it reads and writes. */
#ifndef DML_DEVICE_OPERANDS_H
#define DML_DEVICE_OPERANDS_H

#include "device/allocation.h"
#include "plan/program.h"

/* One side of a plan: what its offsets count from. The memory is borrowed. */
typedef struct dml_operand {
    dml_allocation *allocation; /* NULL: host memory */
    void *data;                 /* host memory, */
    bool read_only;             /* which may lie in pages without write permission */
    uint64_t offset;            /* bytes in the allocation */
} dml_operand;

/* A program and its memory, all of it borrowed. No result may overlap an input, or another result. Each side is host memory or
 * allocations of one device. */
typedef struct dml_transfer {
    const dml_program *program;
    const dml_operand *inputs, *results; /* as many as the program has */
    const void *fill;                    /* the constants that steps whose source is DML_FILL read; or NULL */
    dml_allocation *entries;             /* on the device, to whose first byte a plan's entries.offset is; or NULL */
    bool computed;                       /* by arithmetic where plans have it, in place of their tables */
    dml_allocation *between;             /* what lies between the passes of a program that resizes; or NULL */
    /* Set where the device does not import host memory, and nothing else was done; where it is NULL, the memory is staged. */
    bool *refused;
} dml_transfer;

/* The allocations of a transfer in turn, and whether it writes to them. `*at` is 0 at first; NULL after the last. */
dml_allocation *dml_transfer_next(const dml_transfer *transfer, int64_t *at, bool *writes);

#endif
