/* Entries of a table that the host computes, where it gets the table's bits by that. */
#ifndef DML_HOST_HOST_COMPUTED_H
#define DML_HOST_HOST_COMPUTED_H

#include "host/host_kernel.h"

/* Elements that are computed at a time, the fewest of a row; DML_HOST_TURNS where constants come by turns. */
enum { DML_COMPUTED = 32 };

/* The function for entries of 2 or of 4 bytes, on a processor that has such instructions; else NULL. */
dml_computed_row *dml_computed_row_avx2(int64_t item);
dml_computed_row *dml_computed_row_avx512(int64_t item);

#endif
