/* Runs a plan on the processor: for device="host", and for what is staged. */
#ifndef DML_HOST_HOST_H
#define DML_HOST_HOST_H

#include "base/interrupt.h"
#include "plan/plan.h"

enum { DML_HOST_PARALLEL = 512 * 1024 }; /* bytes of a plan that several cores move faster than one */

/* The plan's offsets count from `src` and `dst`. What is read and written must not overlap. Only the plan's own bytes are
 * written; others may be read that lie between those it reads. Large plans use several cores. With a `poll`, asks as that has
 * it whether to stop: false if it was stopped, and the result may be partly written. */
bool dml_host_run(const dml_plan *plan, const void *src, void *dst, dml_interrupt_poll *poll);

#endif
