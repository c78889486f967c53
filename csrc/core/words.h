/* Words: a destination without gaps, as rows of scalars that lie one behind the other. Geometry alone. */
#ifndef DML_CORE_WORDS_H
#define DML_CORE_WORDS_H

#include "core/plan.h"

typedef struct dml_words {
    const dml_plan *plan;
    int axis;       /* along which a row's scalars lie; -1: a row is one item of the plan */
    int32_t scalar; /* bytes */
    int64_t row;    /* bytes of a row in the destination */
    int64_t ratio;  /* source bytes that a row passes for each of these; negative: backwards */
    int64_t pitch;  /* source bytes between neighbouring rows */
    int32_t tile;   /* words that an invocation makes */
} dml_words;

/* False if the plan's destination has gaps. The tile is left to others. */
bool dml_words_find(const dml_plan *plan, int32_t scalar, dml_words *words);

#endif
