/* Moves a plan with gathered axes, and finds indices that are none of an axis. */
#ifndef DML_HOST_HOST_GATHER_H
#define DML_HOST_HOST_GATHER_H

#include "plan/plan.h"

/* The plan is simplified, and some of its entries differ. */
void dml_host_run_gather(const dml_plan *plan, const char *src, char *dst);

/* The first of `count` entries, `stride` bytes apart from an offset on, that is not in [-extent, extent); -1 if all are. */
int64_t dml_entries_find_wrong(const dml_entries *entries, int64_t offset, int64_t stride, int64_t count, int64_t extent);

#endif
