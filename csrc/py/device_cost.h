/* Automatic choices: by estimates of time, and by what a device can do. */
#ifndef DML_PY_DEVICE_COST_H
#define DML_PY_DEVICE_COST_H

#include "plan/program.h"
#include "py/device_choice.h"

/* An automatic choice becomes the device on which a program between host arrays is estimated to take less time. Drivers are
 * loaded only where one of them may be faster than the host. */
int dml_device_by_cost(const dml_state *state, const dml_program *program, dml_choice *choice);

/* Whether a Vulkan device cannot run a program that the host can: it does not promise the bits, or cannot be opened. */
bool dml_device_lacks(const dml_choice *choice, const dml_program *program);

#endif
