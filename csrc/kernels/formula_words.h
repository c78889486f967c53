/* A formula as constants of the kernel `formulas`. */
#ifndef DML_KERNELS_FORMULA_WORDS_H
#define DML_KERNELS_FORMULA_WORDS_H

#include "abi.h"
#include "plan/program.h"

typedef struct dml_formula_words {
    uint32_t ends;
    uint32_t steps[DML_FORMULAS_MOST_STEPS];
} dml_formula_words;

/* False where the kernel has not what the formula needs: numbers of 64 bits, float16, integers that are divided, more steps or
 * constants. `divides`: whether devices of that class divide floats, and take roots, as processors do. */
bool dml_formula_words_find(const dml_formula *formula, bool divides, dml_formula_words *words);

/* Whether all formulas of a program have them. */
bool dml_formula_words_suffice(const dml_program *program, bool divides);

#endif
