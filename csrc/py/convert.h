/* The arguments that all operators have: inputs, outputs and the device. Functions return 0, or -1 with an exception set. */
#ifndef DML_PY_CONVERT_H
#define DML_PY_CONVERT_H

#include "py/call.h"

/* None stands for an `out` or `device` left out. `name` is the input's. */
int dml_call_convert(dml_call *call, const char *name, PyObject *input, PyObject *out, PyObject *device);

/* The same in parts, for several inputs or outputs: the inputs come first. `out` is None or a sequence of `count`. */
int dml_call_convert_input(dml_call *call, const char *name, PyObject *input);
int dml_call_convert_inputs(dml_call *call, PyObject *inputs);
int dml_call_convert_output(dml_call *call, PyObject *out);
int dml_call_convert_outputs(dml_call *call, PyObject *out, int64_t count);
int dml_call_convert_device(dml_call *call, PyObject *device);

/* What messages call an input or an output: "inputs[3]", "out". */
typedef struct dml_operand_name {
    char text[40];
} dml_operand_name;

dml_operand_name dml_input_name(const dml_call *call, int64_t index);
dml_operand_name dml_output_name(const dml_call *call, int64_t index);

/* Whether inputs and outputs are device arrays. */
bool dml_call_on_device(const dml_call *call);

#endif
