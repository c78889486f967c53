/* The constants that tell shaders/rows.comp where each byte of a tile comes from. */
#ifndef DML_CORE_PATTERN_H
#define DML_CORE_PATTERN_H

#include "core/dispatch.h"
#include "core/rows.h"

/* Fills in all constants but those of the schedule. `src` is where the source begins in its window. */
void dml_pattern_encode(const dml_rows *rows, uint32_t src, int32_t *constants);

#endif
