/* Formulas on the processor: loops over a block of elements, by class of processors. */
#ifndef DML_HOST_HOST_FORMULAS_H
#define DML_HOST_HOST_FORMULAS_H

#include "plan/formula.h"

enum { DML_FORMULA_BLOCK = 256 /* elements that a register holds */ };

/* An operation of `count` elements; what it does not need is NULL. `to` is apart from the others. */
typedef void dml_formula_loop(void *to, const void *first, const void *second, const void *third, int64_t count);

typedef struct dml_formula_loops {
    dml_formula_loop *operations[DML_OPERATIONS][DML_NUMBERS];
    dml_formula_loop *casts[DML_NUMBERS][DML_NUMBERS]; /* from, to */
    dml_formula_loop *narrows[DML_MEMORIES];
    dml_formula_loop *gathers[5]; /* of items of 4 bytes that lie so many items apart; NULL: there is no fast one */
    dml_formula_loop *loads[DML_MEMORIES], *stores[DML_MEMORIES]; /* side by side; NULL: memory has it as registers do */
} dml_formula_loops;

extern const dml_formula_loops dml_formula_loops_plain;

/* NULL: this processor, or the compiler, has no AVX2. */
const dml_formula_loops *dml_formula_loops_avx2(void);

#endif
