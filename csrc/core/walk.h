/* The way through a dispatch's work, for all kernels: the table's axes in the order in which they are walked, and the shares. */
#ifndef DML_CORE_WALK_H
#define DML_CORE_WALK_H

#include "core/dispatch.h"

/* For a division by d: q = high word of n * multiplier is right or one too small. */
uint32_t dml_walk_multiplier(uint32_t d);

/* Lists the axes with several places, but for one (or -1). */
int dml_walk_list(const dml_plan *plan, int but, int *axes);

/* Puts these axes of the plan into the table, as they are. */
void dml_walk_axes(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int count);

/* The same once the list is put in the order in which it is walked: behind the others, the innermost axis that is long, or else the
 * longest. */
void dml_walk_elements(dml_dispatch *dispatch, const dml_plan *plan, const dml_traits *traits, int *axes, int count);

/* The same, but a CPU keeps to the plan's order if that is the source's too; and an axis that fills in what the walk leaves out comes behind all: memory
 * is then read and written without gaps, as it is fastest. */
void dml_walk_rows(dml_dispatch *dispatch, const dml_plan *plan, const dml_traits *traits, int *axes, int count);

/* What is read of rows that follow each other, in source bytes. */
typedef struct dml_reads {
    int64_t count; /* rows */
    int64_t tiles; /* of each */
    int64_t span;  /* from the first to the last that is read of one */
    int64_t pitch; /* from one to the next */
    bool fro;      /* they follow each other in one direction, and are read in the other */
    bool streams;  /* each is read in several places at a time */
    bool even;     /* reading begins at equal distances: else with the first whole word of the destination */
} dml_reads;

/* Whether a CPU does not foresee the next row. One of a line or two is foreseen if reading begins at equal distances. */
bool dml_walk_defeats_prefetch(int64_t pitch, int64_t span, bool even);

/* How rows follow each other: side by side, or with a look ahead. */
void dml_walk_follow(dml_dispatch *dispatch, const dml_traits *traits, const dml_reads *reads);

/* Shares out rows of so many steps each, GROUP_SIZE of which a work group takes at once, of so many rows abreast: several rows to a
 * share where there are many, several shares to a row where there are few. */
void dml_walk_share(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t steps, int64_t abreast);

#endif
