/* Between dispatch.c and rows.c, which is most of it: the choice of a pattern for the kernel of that name. */
#ifndef DML_CORE_ROWS_H
#define DML_CORE_ROWS_H

#include "core/dispatch.h"

/* Fills in constants, table and groups, if the piece can be moved as rows. */
bool dml_rows_choose(const dml_piece *piece, const dml_traits *traits, dml_dispatch *dispatch);

/* The largest power of two up to `most` (one itself) that divides all of the value. */
int64_t dml_divisor(uint64_t value, int64_t most);

/* Moves the i-th axis of a list behind the others. */
void dml_move_last(int *axes, int count, int i);

/* Likewise the one to walk along: the innermost that is long, or else the longest. */
void dml_walk_last(const dml_plan *plan, int *axes, int count);

/* Puts them into the table. */
void dml_dispatch_add_axes(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int count);

/* Shares out rows of so many steps each, GROUP_SIZE of which a work group takes at once, of so many rows abreast: several rows to a
 * share where there are many, several shares to a row where there are few. */
void dml_dispatch_share(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t steps, int64_t abreast);

#endif
