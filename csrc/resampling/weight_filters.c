#include "resampling/weight_filters.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

static const double pi = 3.14159265358979323846;

/* --- several numbers at once ---------------------------------------------------------------------------------------- */

/* Each operation rounds as that of one number does, so the bits are the same where compilers have no vectors. */
#ifdef __GNUC__
typedef double numbers __attribute__((vector_size(8 * DML_TAPS_TOGETHER)));
typedef int64_t choice __attribute__((vector_size(8 * DML_TAPS_TOGETHER)));

typedef int32_t integers __attribute__((vector_size(4 * DML_TAPS_TOGETHER)));
#define CONVERTED(x, type) __builtin_convertvector(x, type)
#define EACH(x) {x, x}

DML_INLINE numbers chosen(choice which, numbers a, numbers b)
{
    return (numbers)((which & (choice)a) | (~which & (choice)b));
}
#else
typedef double numbers;
typedef bool choice;
typedef int32_t integers;
#define CONVERTED(x, type) ((type)(x))
#define EACH(x) x

DML_INLINE numbers chosen(choice which, numbers a, numbers b)
{
    return which ? a : b;
}
#endif

enum { TOGETHER = sizeof(numbers) / sizeof(double) };

DML_INLINE numbers zero(void)
{
    return (numbers){0};
}

DML_INLINE numbers magnitude(numbers x)
{
    return chosen((choice)(x < 0.0), -x, x);
}

DML_INLINE numbers load(const double *values)
{
    numbers made;
    memcpy(&made, values, sizeof made);
    return made;
}

DML_INLINE void store(double *values, numbers made)
{
    memcpy(values, &made, sizeof made);
}

/* --- filters, to the bit ---------------------------------------------------------------------------------------------- */

static double sinc(double x)
{
    const double angle = x * pi;
    return x == 0.0 ? 1.0 : sin(angle) / angle;
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

/* Pillow's two constants are floats: their sum, which is that of inputs just beside 0, is not one. */
static double hamming(double x)
{
    const double angle = x * pi;
    if (x == 0.0)
        return 1.0;
    return x >= 1.0 ? 0.0 : sin(angle) / angle * ((double)0.54F + (double)0.46F * cos(angle));
}

DML_INLINE numbers bilinear(numbers x)
{
    const numbers inner = 1.0 - x;
    return chosen((choice)(inner > 0.0), inner, zero());
}

DML_INLINE numbers bicubic(numbers x)
{
    const numbers inner = (1.5 * x - 2.5) * x * x + 1.0, outer = (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5;
    return chosen((choice)(x < 1.0), inner, chosen((choice)(x < 2.0), outer, zero()));
}

static double mks2013(double x)
{
    if (x < 0.5)
        return 17.0 / 16.0 - 7.0 / 4.0 * (x * x);
    if (x < 1.5)
        return (1.0 - x) * (1.75 - x);
    return x < 2.5 ? -0.125 * ((x - 2.5) * (x - 2.5)) : 0.0;
}

static double mks2021(double x)
{
    if (x < 0.5)
        return 577.0 / 576.0 - 239.0 / 144.0 * (x * x);
    if (x < 1.5)
        return 35.0 / 36.0 * (x - 1.0) * (x - 239.0 / 140.0);
    if (x < 2.5)
        return 1.0 / 6.0 * (x - 2.0) * (65.0 / 24.0 - x);
    if (x < 3.5)
        return 1.0 / 36.0 * (x - 3.0) * (x - 15.0 / 4.0);
    return x < 4.5 ? -1.0 / 288.0 * ((x - 4.5) * (x - 4.5)) : 0.0;
}

static double one_of(dml_filter filter, double x)
{
    const double size = fabs(x);
    switch (filter) {
    case DML_FILTER_HAMMING:
        return hamming(size);
    case DML_FILTER_LANCZOS:
        return lanczos(x);
    case DML_FILTER_MKS2013:
        return mks2013(size);
    case DML_FILTER_MKS2021:
        return mks2021(size);
    default:
        return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    }
}

/* --- filters, nearly ------------------------------------------------------------------------------------------------ */

/* Polynomials of x * x, from 0 to 9 and from 0 to 1, moved to -1 to 1: interpolated at the zeros of a Chebyshev polynomial,
 * they are within 4e-14. A multiple of 4 terms. */
static const numbers near_lanczos[] = {
    EACH(0.019992724448748403),
    EACH(0.1293456934863026),
    EACH(-0.43056441468941),
    EACH(0.2683078278697323),
    EACH(0.33365603576526287),
    EACH(-0.6404382274140115),
    EACH(0.4925932463928699),
    EACH(-0.23596813003234615),
    EACH(0.0800674139727606),
    EACH(-0.020552215924320234),
    EACH(0.004160513228430419),
    EACH(-0.0006840785931415315),
    EACH(9.34076617886332e-05),
    EACH(-1.077590451545844e-05),
    EACH(1.066219819546627e-06),
    EACH(-9.348769289038825e-08),
    EACH(6.9997292275104244e-09),
    EACH(0.0),
    EACH(0.0),
    EACH(0.0),
};
static const numbers near_hamming[] = {
    EACH(0.09362243490894594),    EACH(-0.2715889178446531),     EACH(0.33062374331636685),    EACH(-0.21268193916850733),
    EACH(0.07353495298803622),    EACH(-0.015502591989865325),   EACH(0.0022013411588655933),  EACH(-0.00022549932816080486),
    EACH(1.7490073079820824e-05), EACH(-1.0644510739310474e-06), EACH(5.2455831695298806e-08), EACH(-2.118899674529547e-09),
};

/* Every fourth term is a sum of its own: sums wait for each other less. */
DML_INLINE numbers polynomial(numbers x, const numbers *terms, const int count)
{
    const numbers square = x * x, fourth = square * square;
    numbers a = zero(), b = a, c = a, d = a;
    DML_UNROLL
    for (int k = count - 4; k >= 0; k -= 4) {
        a = a * fourth + terms[k];
        b = b * fourth + terms[k + 1];
        c = c * fourth + terms[k + 2];
        d = d * fourth + terms[k + 3];
    }
    return (a + b * x) + (c + d * x) * square;
}

DML_INLINE numbers nearly(dml_filter filter, numbers x)
{
    if (filter == DML_FILTER_LANCZOS)
        return chosen((choice)(x < 3.0),
                      polynomial((x * x - 4.5) * (1.0 / 4.5), near_lanczos, sizeof near_lanczos / sizeof(numbers)), zero());
    const numbers inner = polynomial((x * x - 0.5) * 2.0, near_hamming, sizeof near_hamming / sizeof(numbers));
    return chosen((choice)(x == 0.0), zero() + 1.0, chosen((choice)(x < 1.0), inner, zero()));
}

/* --- taps ----------------------------------------------------------------------------------------------------------- */

/* Of filters that have vectors. */
DML_INLINE void run_vectors(const dml_filter filter, const dml_filter_taps *taps, double *values)
{
    double inputs[TOGETHER];
    for (int j = 0; j < TOGETHER; j++)
        inputs[j] = (double)(taps->first + j);
    numbers input = load(inputs);
    for (int64_t k = 0; k < taps->count; k += TOGETHER, input = input + (double)TOGETHER) {
        const numbers x = magnitude((input - taps->centre + 0.5) * taps->inverse);
        if (filter == DML_FILTER_BILINEAR)
            store(values + k, bilinear(x));
        else if (filter == DML_FILTER_BICUBIC)
            store(values + k, bicubic(x));
        else
            store(values + k, nearly(filter, x));
    }
}

static void run_each(dml_filter filter, const dml_filter_taps *taps, double *values)
{
    memset(values + taps->count, 0, (TOGETHER - 1) * sizeof *values);
    for (int64_t k = 0; k < taps->count; k++)
        values[k] = one_of(filter, ((double)(k + taps->first) - taps->centre + 0.5) * taps->inverse);
}

double dml_filter_run(dml_filter filter, const dml_filter_taps *taps, bool near, double *values)
{
    double sum = 0.0;
    if (filter == DML_FILTER_BILINEAR)
        run_vectors(DML_FILTER_BILINEAR, taps, values);
    else if (filter == DML_FILTER_BICUBIC)
        run_vectors(DML_FILTER_BICUBIC, taps, values);
    else if (near && filter == DML_FILTER_LANCZOS)
        run_vectors(DML_FILTER_LANCZOS, taps, values);
    else if (near && filter == DML_FILTER_HAMMING)
        run_vectors(DML_FILTER_HAMMING, taps, values);
    else
        run_each(filter, taps, values);
    for (int64_t k = 0; k < taps->count; k++)
        sum += values[k];
    return sum;
}

DML_INLINE bool round_all(const double *values, int64_t count, double divisor, double one, const bool near, int32_t *weights)
{
    numbers worst = zero();
    for (int64_t k = 0; k < count; k += TOGETHER) {
        const numbers value = load(values + k) / divisor * one;
        const integers some = CONVERTED(value + chosen((choice)(value < 0.0), zero() - 0.5, zero() + 0.5), integers);
        memcpy(weights + k, &some, sizeof some);
        if (near) {
            const numbers distance = magnitude(value - CONVERTED(some, numbers));
            worst = chosen((choice)(distance > worst), distance, worst);
        }
    }
    double distances[TOGETHER];
    store(distances, worst);
    bool certain = true;
    for (int j = 0; near && j < TOGETHER; j++)
        certain = certain && distances[j] < 0.5 - DML_NEAR_ENOUGH * one;
    return certain;
}

bool dml_filter_round(const double *values, int64_t count, double sum, int32_t shift, bool near, int32_t *weights)
{
    const double one = (double)((int32_t)1 << shift);
    if (near)
        return round_all(values, count, sum, one, true, weights) && sum > 0.5;
    return round_all(values, count, sum != 0.0 ? sum : 1.0, one, false, weights);
}
