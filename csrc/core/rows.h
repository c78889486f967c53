/* Between dispatch.c and rows.c, which is most of it: the choice of a pattern for the kernel of that name. */
#ifndef DML_CORE_ROWS_H
#define DML_CORE_ROWS_H

#include "core/words.h"

/* Fills in constants, table and groups, if the piece can be moved as rows, and would not be better off as these words, if it can also be
 * words (or NULL). */
bool dml_rows_choose(const dml_piece *piece, const dml_traits *traits, const dml_words *words, dml_dispatch *dispatch);

#endif
