/* The table of a dispatch: axes of a plan, and how work is shared out to chunks. */
#ifndef DML_KERNELS_DISPATCH_TABLE_H
#define DML_KERNELS_DISPATCH_TABLE_H

#include "kernels/dispatch.h"

/* For divide() in shaders/plan.glsl. */
uint32_t dml_multiplier(uint32_t d);

/* Lists the axes of more than one index, but for two (or -1); gives their number. */
int dml_table_list(const dml_plan *plan, int but, int or_but, int *axes);

/* Puts these axes of the plan into the table, the last of them as axis 0. */
void dml_table_put(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int rank);

/* Moves the i-th axis of a list behind the others. */
void dml_table_move_last(int *axes, int count, int i);

/* Likewise the one to walk along: the innermost that is long, or else the longest. */
void dml_table_walk_last(const dml_plan *plan, const dml_tunables *tunables, int *axes, int count);

/* Shares out rows of so many tiles each; a workgroup does group_size tiles at a time, of `side` rows side by side. Many
 * rows: several to a chunk. Few: several chunks to a row. */
void dml_table_share_out(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t tiles, int64_t side);

#endif
