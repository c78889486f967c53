/* slice_grad: zeros, with the gradient where slice would have read. */
#ifndef DML_CORE_OP_SLICE_GRAD_H
#define DML_CORE_OP_SLICE_GRAD_H

#include "core/op_slice.h"
#include "core/program.h"

/* `args` has no output_sizes: the gradient may be as small as they may be. */
dml_code dml_slice_grad_shape(const dml_tensor *gradient, const dml_ints *output_shape, const dml_slice_args *args,
                              dml_tensor *result, dml_status *status);

/* Fills in `window`, which the program refers to. */
void dml_slice_grad_program(const dml_tensor *gradient, const dml_slice_args *args, const dml_tensor *result,
                            dml_window *window, dml_program *program);

#endif
