/* Compiled programs: steps that dmlops.fuse computes for inputs of known shapes and strides, and results of any strides. */
#ifndef DML_PLAN_COMPILED_H
#define DML_PLAN_COMPILED_H

#include "base/status.h"
#include "plan/program.h"

/* `extent` indices of one of a result's axes, `stride` apart from `first` on. */
typedef struct dml_compiled_axis {
    int64_t dim;
    int64_t first;
    int64_t extent;
    int64_t stride;
    int64_t src_stride; /* bytes */
    int64_t row_stride;
} dml_compiled_axis;

typedef struct dml_compiled_step {
    int64_t src; /* an input, or DML_FILL: the constants */
    int64_t dst;
    int64_t src_offset; /* bytes */
    int64_t src_item;   /* 1 or 2, where there is a table; 4 or 8, where there is a formula */
    int64_t table; /* where the first row of a table, or of a formula's constants, begins in the constants; below 0: none */
    int64_t row;   /* of the first element */
    int64_t arithmetic; /* where the dml_formula lies there, or a table's dml_arithmetic, at a multiple of 16; below 0: none */
    int64_t axis_count;
    int64_t first_axis; /* an index into the program's axes */
} dml_compiled_step;

/* What a run decides about a step: which of its variants is run, and how many bytes further on it reads. */
typedef struct dml_selection {
    int64_t variant;
    int64_t offset;
} dml_selection;

/* Owned by its maker. Nothing changes once it is made, so that any thread may run it. */
typedef struct dml_compiled {
    int64_t count;    /* of steps; of each, all variants lie side by side, */
    int64_t variants; /* so many: they write the same elements */
    int64_t input_count, result_count;
    const char *constants; /* borrowed: tables, and what a step from DML_FILL reads */
    int64_t constant_bytes;
    dml_compiled_step *steps;
    dml_compiled_axis *axes;
    dml_tensor *inputs, *results;
} dml_compiled;

/* Whether all steps stay within inputs, constants and results, and write every element of each result once. */
dml_code dml_compiled_check(const dml_compiled *compiled, dml_status *status);

/* The same of the latter, for steps that stay within the results, with extents above 0: DML_OK, or a value error that names a
 * result. It takes time in steps, axes and the digits of their numbers, not in elements, and allocates nothing.
 *
 * A program that is right always passes. One that is not passes with a probability below (n / 2^61)^2, where n is the sum of a
 * result's shape: below 10^-17 for all that memory can hold. */
dml_code dml_coverage_check(const dml_compiled *compiled, dml_status *status);

/* Whether the selections of a run, one for each step, name variants that stay within inputs and constants. */
dml_code dml_compiled_check_selections(const dml_compiled *compiled, const dml_selection *selections, int64_t count,
                                       dml_status *status);

/* Gives a program, which has room for them, the results' shapes and its steps: as they are chosen, or, without selections, the
 * first variants. The selections are borrowed. */
void dml_compiled_describe(const dml_compiled *compiled, const dml_selection *selections, dml_program *program);

#endif
