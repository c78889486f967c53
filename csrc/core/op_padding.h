/* padding, as numpy.pad has it. */
#ifndef DML_CORE_OP_PADDING_H
#define DML_CORE_OP_PADDING_H

#include "core/program.h"

typedef enum dml_padding_mode {
    DML_PADDING_CONSTANT,
    DML_PADDING_EDGE,
    DML_PADDING_REFLECTION, /* the edge is not repeated */
    DML_PADDING_SYMMETRIC,
    DML_PADDING_WRAP,
    DML_PADDING_MODES
} dml_padding_mode;

typedef struct dml_padding_args {
    const dml_ints *start;
    const dml_ints *end;
    dml_padding_mode mode;
} dml_padding_args;

/* A run of `extent` indices of the result, from `first` on; their source advances by `step` from `src` on. It is there `times`
 * times, `period` indices apart. */
typedef struct dml_run {
    int64_t first;
    int64_t extent;
    int64_t src;
    int64_t step;
    int64_t times;
    int64_t period;
} dml_run;

enum { DML_MAX_RUNS = 6 }; /* the period before the input, whole ones, and the last: each forwards and backwards */

/* What the program needs: the input is a window of the result, or the result is made of all combinations of a run per axis. */
typedef struct dml_padding {
    dml_window window;
    int runs[DML_MAX_RANK];
    dml_run run[DML_MAX_RANK][DML_MAX_RUNS];
} dml_padding;

dml_code dml_padding_shape(const dml_tensor *input, const dml_padding_args *args, dml_tensor *result, dml_status *status);

/* Fills in `padding`, which the program refers to. */
void dml_padding_program(const dml_tensor *input, const dml_padding_args *args, const dml_tensor *result, dml_padding *padding,
                         dml_program *program);

#endif
