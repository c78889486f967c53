/* Whether the steps of a compiled program write every element of every result once. Any thread may call. */
#ifndef DML_PLAN_COVERAGE_H
#define DML_PLAN_COVERAGE_H

#include "plan/compiled.h"

/* DML_OK, or a value error that names a result. The steps stay within the results, and extents are above 0. It takes time in
 * steps, axes and the digits of their numbers, not in elements, and allocates nothing.
 *
 * A program that is right always passes. One that is not passes with a probability below (n / 2^61)^2, where n is the sum of a
 * result's shape: below 10^-17 for all that memory can hold. */
dml_code dml_coverage_check(const dml_compiled *compiled, dml_status *status);

#endif
