/* Moves vectors of the result, each looked up in a few vectors of the source: pixels backwards, ::2, channels that are taken
 * apart or put together. */
#ifndef DML_CORE_HOST_TABLE_H
#define DML_CORE_HOST_TABLE_H

#include "core/host_kernel.h"

/* False, and the job is as before, if the plan is of another kind or the processor has no lookups. */
bool dml_table_choose(const dml_plan *plan, dml_host_job *job);

#endif
