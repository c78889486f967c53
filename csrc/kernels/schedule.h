/* The order of a dispatch's work and how it is shared out: the table's axes, strips, chunks, rows per workgroup and software
 * prefetch. For rows also the pattern: the constants that tell shaders/rows.comp where each byte of a tile comes from.
 *
 * Each schedule fills in the table and the number of workgroups, and for rows the constant DML_ROWS_SCHEDULE.
 */
#ifndef DML_KERNELS_SCHEDULE_H
#define DML_KERNELS_SCHEDULE_H

#include "kernels/blocks.h"
#include "kernels/dispatch.h"
#include "kernels/lookups.h"
#include "kernels/rows.h"
#include "kernels/sum_tiles.h"

/* Fills in all constants but those of the schedule. `src` is where the source begins in its range. */
void dml_pattern_encode(const dml_rows *rows, uint32_t src, int32_t *constants);

void dml_schedule_rows(const dml_rows *rows, const dml_traits *traits, dml_dispatch *dispatch);
void dml_schedule_words(const dml_words *words, const dml_traits *traits, dml_dispatch *dispatch);
void dml_schedule_blocks(const dml_blocks *blocks, const dml_traits *traits, dml_dispatch *dispatch);

/* The last axis is that of an item's scalars. */
void dml_schedule_elements(const dml_plan *plan, const dml_traits *traits, dml_dispatch *dispatch);

void dml_schedule_tables(const dml_lookups *lookups, const dml_traits *traits, dml_dispatch *dispatch);
void dml_schedule_sums(const dml_sum_tiles *sums, const dml_traits *traits, dml_dispatch *dispatch);

/* Whether rows of so many source bytes begin so far apart that hardware does not prefetch the next one. `even`: they begin
 * at equal distances. */
bool dml_schedule_is_remote(const dml_tunables *tunables, int64_t pitch, int64_t span, bool even);

#endif
