/* Between dispatch.c, rows.c and words.c: the rows that the kernel `words` puts together, and its constants. */
#ifndef DML_CORE_WORDS_H
#define DML_CORE_WORDS_H

#include "core/dispatch.h"

/* A destination without gaps, as rows of narrow words, one behind the other. */
typedef struct dml_words {
    int axis;      /* of the plan, along which a row's narrow words lie; -1 where a row is one item of the plan */
    int64_t bytes; /* of a row in the destination */
    int64_t ratio; /* source bytes that a row passes for each of these, negative where it goes backwards */
    bool worth;    /* not so short that narrow words are better by themselves */
} dml_words;

/* Given the bytes of a narrow word. False if the piece is nothing for words. */
bool dml_words_find(const dml_plan *plan, int32_t edge, dml_words *words);

/* Fills in constants, table and groups. */
void dml_words_choose(const dml_words *words, const dml_plan *plan, const dml_traits *traits, dml_dispatch *dispatch);

#endif
