/* How the kernel `tables` goes through a plan that has a table. */
#ifndef DML_KERNELS_LOOKUPS_H
#define DML_KERNELS_LOOKUPS_H

#include "plan/plan.h"

typedef struct dml_lookups {
    dml_plan plan;  /* one axis may be cut into two */
    int run, side;  /* axes of a tile: it has `tile` indices of the first, and all of the second; -1: there is none */
    int64_t tile;   /* elements along the run */
    int32_t words;  /* DML_TABLES_RUNS, DML_TABLES_MIXED or DML_TABLES_SCALARS */
    bool windowed;  /* a small window has a tile's sources */
    bool same_rows; /* all tiles have the same rows of the table */
    int64_t before; /* elements by which a run's first tile may begin early, for whole words */
} dml_lookups;

/* `dst`: the first byte that is written, from a multiple of 16 bytes on. Without `words` all are scalars, of which the run is
 * left to others: then few pipelines do for all plans. */
void dml_lookups_find(const dml_plan *plan, uint32_t dst, bool words, dml_lookups *lookups);

/* Indices beside the run: all of the axis `side`, or 1. */
int64_t dml_lookups_beside(const dml_lookups *lookups);

#endif
