/* Runs a plan in plain C: what device="host" does, how what is staged comes to the device and back, and what the tests hold the kernels against. */
#ifndef DML_CORE_HOST_H
#define DML_CORE_HOST_H

#include "core/plan.h"

/* `src` and `dst` are the bases the plan's offsets count from; what is read and written must not overlap.
 * Simple rather than fast. Any thread. */
void dml_host_run(const dml_plan *plan, const void *src, void *dst);

#endif
