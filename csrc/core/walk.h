/* The way through a dispatch's work, for all kernels: the table's axes in the order in which they are walked, and the shares. */
#ifndef DML_CORE_WALK_H
#define DML_CORE_WALK_H

#include "core/dispatch.h"

/* Puts these axes of the plan into the table, as they are. */
void dml_walk_axes(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int count);

/* Likewise, in the list as well, so that the last is the one to walk along: the innermost that is long, or
 * else the longest. */
void dml_walk_elements(dml_dispatch *dispatch, const dml_plan *plan, const dml_traits *traits, int *axes, int count);

/* Likewise, but on a CPU in the plan's order if that is the source's too, and but that an axis which fills in what the walk leaves out comes behind it: memory is then read
 * and written without gaps, as it is fastest. */
void dml_walk_rows(dml_dispatch *dispatch, const dml_plan *plan, const dml_traits *traits, int *axes, int count);

/* Shares out rows of so many steps each, GROUP_SIZE of which a work group takes at once, of so many rows abreast: several rows to a
 * share where there are many, several shares to a row where there are few. */
void dml_walk_share(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t steps, int64_t abreast);

#endif
