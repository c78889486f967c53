/* Programs that resize an array: two of its axes are resampled, by a resampling's passes.
 *
 * A pass is a step, or several where the result has parts. Where there are two passes, the first step writes to DML_BETWEEN: an
 * array of the result's axes, in their order, which the others read; only its images' rows have gaps between them. A backend
 * runs them one after the other. */
#ifndef DML_RESAMPLING_RESIZE_H
#define DML_RESAMPLING_RESIZE_H

#include "plan/program.h"
#include "resampling/resampling.h"

/* What such a program resizes; it is borrowed by the program. */
struct dml_resize {
    const dml_resampling *resampling; /* borrowed */
    int axes[2];                      /* of input and result: the rows, and the columns */
    int64_t begin[2];                 /* which of the resampling's outputs are the result's first row and column */
    int64_t src_offset, dst_offset;   /* bytes from the operands' first elements to those of this program */
};

/* Gives a program, whose input and result have shapes, its steps. */
void dml_resize_describe(dml_program *program, const dml_resize *resize);

/* The array between the passes, of which the first index on the axis of the second pass is `*begin`. */
void dml_resize_between(const dml_program *program, dml_tensor *between, int64_t *begin);

/* The weights of an axis, which is DML_ROWS_AXIS or DML_COLUMNS_AXIS; NULL where no pass has it. */
const dml_weights *dml_resize_weights(const dml_resize *resize, int axis);

/* How many products are added for the result: what the work grows with. */
double dml_resize_products(const dml_program *program);

/* As dml_portions_run: a portion has some indices of one axis of the result. */
bool dml_resize_portions(dml_portions *portions);

#endif
