#include "plan/compiled.h"

/* Let the element at (i, j, ...) be the product x^i y^j .... A step then writes the product of the geometric sums of its axes;
 * all steps together write a polynomial whose coefficients say how often each element is written; and the right one is that of
 * an array itself, with all coefficients 1. Polynomials that differ have different values at nearly every point (the lemma of
 * Schwartz and Zippel), so their values at two points tell, modulo a prime. The points are fixed, and as good as drawn. */

enum { POINTS = 2 };

static const uint64_t PRIME = (UINT64_C(1) << 61) - 1;

static uint64_t reduced(uint64_t number)
{
    number = (number & PRIME) + (number >> 61);
    return number >= PRIME ? number - PRIME : number;
}

/* With a and b of 61 bits as 30 high and 31 low ones: 2^61 is 1. */
static uint64_t product(uint64_t a, uint64_t b)
{
    const uint64_t low = (UINT64_C(1) << 31) - 1;
    uint64_t middle = (a >> 31) * (b & low) + (a & low) * (b >> 31);
    uint64_t outer = 2 * ((a >> 31) * (b >> 31)) + (a & low) * (b & low);
    return reduced(outer + (middle >> 30) + ((middle & (low >> 1)) << 31));
}

static uint64_t power(uint64_t x, int64_t exponent)
{
    uint64_t made = 1;
    for (; exponent > 0; exponent >>= 1, x = product(x, x))
        made = exponent & 1 ? product(made, x) : made;
    return made;
}

/* 1 + x + x^2 + ..., so many of them. */
static uint64_t geometric(uint64_t x, int64_t count)
{
    uint64_t sum = 0, next = 1; /* behind the sum's last power */
    int bit = 0;
    while (count >> bit > 1)
        bit++;
    for (; bit >= 0; bit--) {
        sum = reduced(sum + product(sum, next));
        next = product(next, next);
        if (count >> bit & 1) {
            sum = reduced(sum + next);
            next = product(next, x);
        }
    }
    return sum;
}

/* A number of 61 bits for each `index`, by the mixing function of SplitMix64. */
static uint64_t drawn(int point, int64_t index)
{
    uint64_t number = (uint64_t)(index * POINTS + point + 1) * UINT64_C(0x9E3779B97F4A7C15);
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return reduced(number ^ number >> 31);
}

/* A point, and the geometric sum that was last needed for each dimension: steps have most in common. */
typedef struct dml_point {
    int number;
    struct {
        int64_t extent, stride;
        uint64_t sum;
    } last[DML_MAX_RANK];
} dml_point;

static uint64_t sum_of(dml_point *point, int64_t dim, int64_t extent, int64_t stride)
{
    if (point->last[dim].extent != extent || point->last[dim].stride != stride) {
        point->last[dim].extent = extent;
        point->last[dim].stride = stride;
        point->last[dim].sum = geometric(power(drawn(point->number, dim), stride), extent);
    }
    return point->last[dim].sum;
}

static uint64_t of_step(dml_point *point, const dml_compiled *compiled, const dml_compiled_step *step)
{
    uint64_t made = 1;
    for (int64_t k = 0; k < step->axis_count; k++) {
        const dml_compiled_axis *axis = &compiled->axes[step->first_axis + k];
        if (axis->first > 0)
            made = product(made, power(drawn(point->number, axis->dim), axis->first));
        if (axis->extent > 1)
            made = product(made, sum_of(point, axis->dim, axis->extent, axis->stride));
    }
    return made;
}

static uint64_t of_array(dml_point *point, const dml_tensor *result)
{
    uint64_t made = 1;
    for (int k = 0; k < result->rank; k++)
        made = product(made, sum_of(point, k, result->shape[k], 1));
    return made;
}

/* Whether the polynomials agree for result `only`; if that is below 0, for all at once, each with a factor of its own. */
static bool agrees(const dml_compiled *compiled, int number, int64_t only)
{
    dml_point point = {.number = number};
    uint64_t written = 0, right = 0;
    for (int64_t k = only < 0 ? 0 : only; k < (only < 0 ? compiled->result_count : only + 1); k++)
        if (compiled->results[k].item > 0)
            right = reduced(right + product(drawn(number, DML_MAX_RANK + k), of_array(&point, &compiled->results[k])));
    for (int64_t i = 0; i < compiled->count; i += compiled->variants) {
        const dml_compiled_step *step = &compiled->steps[i];
        if ((only < 0 || step->dst == only) && compiled->results[step->dst].item > 0)
            written = reduced(written + product(drawn(number, DML_MAX_RANK + step->dst), of_step(&point, compiled, step)));
    }
    return written == right;
}

static bool is_whole(const dml_compiled *compiled, int64_t only)
{
    bool whole = true;
    for (int number = 0; number < POINTS && whole; number++)
        whole = agrees(compiled, number, only);
    return whole;
}

/* Whether a step writes an element several times along one axis: so often that the number may be 1 modulo the prime. */
static bool stands_still(const dml_compiled *compiled, const dml_compiled_step *step)
{
    bool still = false;
    for (int64_t k = 0; k < step->axis_count; k++) {
        const dml_compiled_axis *axis = &compiled->axes[step->first_axis + k];
        still = still || (axis->stride == 0 && axis->extent > 1);
    }
    return still && compiled->results[step->dst].item > 0;
}

dml_code dml_coverage_check(const dml_compiled *compiled, dml_status *status)
{
    int64_t wrong = -1;
    for (int64_t i = 0; i < compiled->count && wrong < 0; i++)
        wrong = stands_still(compiled, &compiled->steps[i]) ? compiled->steps[i].dst : -1;
    if (wrong < 0 && is_whole(compiled, -1))
        return DML_OK;
    if (wrong < 0)
        for (wrong = 0; wrong + 1 < compiled->result_count && is_whole(compiled, wrong);)
            wrong++;
    return dml_fail(status, DML_VALUE_ERROR, "the program does not write every element of result %lld once", (long long)wrong);
}
