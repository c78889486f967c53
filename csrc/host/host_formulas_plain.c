/* The loops of formulas for any processor. */
#include "host/host_formulas.h"

#include "base/compiler.h"

#define TARGET DML_VECTORIZE
#define LOOPS const dml_formula_loops dml_formula_loops_plain
#include "host/host_formula_loops.h"
