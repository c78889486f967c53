/* How long a call between host arrays is estimated to take, in nanoseconds, by the costs in kernels/tunables.c. */
#ifndef DML_KERNELS_COST_H
#define DML_KERNELS_COST_H

#include "kernels/tunables.h"
#include "plan/program.h"

/* On a Vulkan device of that class, with what starting, uploading and downloading take; without tunables, on the host. */
double dml_cost(const dml_program *program, const dml_tunables *tunables);

#endif
