/* The loops of formulas for AVX2. */
#include "host/host_formulas.h"

#include <stddef.h>

#if defined(__GNUC__) && defined(__x86_64__)

#include "base/compiler.h"
#include "base/processor.h"

static const dml_formula_loops loops;

const dml_formula_loops *dml_formula_loops_avx2(void)
{
    return dml_processor_has(DML_AVX2) ? &loops : NULL;
}

#define GATHERS .gathers = {[3] = gather_3, [4] = gather_4}
#define TARGET DML_VECTORIZE __attribute__((target("avx2")))
#define LOOPS static const dml_formula_loops loops
#include "host/host_formula_loops.h"

#else

const dml_formula_loops *dml_formula_loops_avx2(void)
{
    return NULL;
}

#endif
