/* The inputs that a plan with a sum adds. */
#ifndef DML_PLAN_TAPS_H
#define DML_PLAN_TAPS_H

#include "plan/plan.h"

/* Bytes of a number. */
int64_t dml_number_bytes(dml_number number);

/* Gives a plan a sum; `rows` are those of its weights, from that of element (0, 0, ...) on. */
void dml_plan_set_sum(dml_plan *plan, const dml_sum *sum, const dml_taps *taps, const void *rows);

/* The inputs from the first to the last that a plan reads, where the host sees its weights; else all of them. */
dml_span dml_plan_inputs(const dml_plan *plan);

/* Leaves out the inputs before and behind these. */
void dml_plan_narrow(dml_plan *plan);

#endif
