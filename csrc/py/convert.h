/* The arguments that all operators have: inputs, outputs, the device, and how they run. Functions return 0, or -1 with an
 * exception set. */
#ifndef DML_PY_CONVERT_H
#define DML_PY_CONVERT_H

#include "py/call.h"

/* In this order; None stands for an `out` or `device` left out. For `how` see entry_points.h. */
int dml_call_convert_how(dml_call *call, PyObject *how);
int dml_call_convert_inputs(dml_call *call, PyObject *input);
int dml_call_convert_outputs(dml_call *call, PyObject *out);
int dml_call_convert_device(dml_call *call, PyObject *device);

/* Before the outputs: makes the result a list of `count`. */
int dml_call_list_outputs(dml_call *call, int64_t count);

/* What messages call an input or an output: "inputs[3]", "out". */
typedef struct dml_operand_name {
    char text[40];
} dml_operand_name;

dml_operand_name dml_input_name(const dml_call *call, int64_t index);
dml_operand_name dml_output_name(const dml_call *call, int64_t index);

/* Whether inputs and outputs are device arrays. */
bool dml_call_on_device(const dml_call *call);

#endif
