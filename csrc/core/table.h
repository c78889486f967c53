/* Runs a plan that has a table, in plain C. */
#ifndef DML_CORE_TABLE_H
#define DML_CORE_TABLE_H

#include "core/plan.h"

/* The plan is simplified and not empty; the rest is as dml_host_run has it. */
void dml_table_run(const dml_plan *plan, const void *src, void *dst);

#endif
