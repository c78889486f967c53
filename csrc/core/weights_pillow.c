#include "core/weight_rules.h"

#include <math.h>

/* Half the width of each filter. */
static const double supports[] = {
    [DML_FILTER_BOX] = 0.5,     [DML_FILTER_BILINEAR] = 1.0, [DML_FILTER_HAMMING] = 1.0, [DML_FILTER_BICUBIC] = 2.0,
    [DML_FILTER_LANCZOS] = 3.0, [DML_FILTER_MKS2013] = 2.5,  [DML_FILTER_MKS2021] = 4.5,
};

enum { FRACTION_BITS = 22 };

static const double pi = 3.14159265358979323846;

static double sinc(double x)
{
    const double angle = x * pi;
    return x == 0.0 ? 1.0 : sin(angle) / angle;
}

double dml_lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

int32_t dml_round_away(double value)
{
    return (int32_t)(value < 0.0 ? value - 0.5 : value + 0.5);
}

/* Pillow's two constants are floats. */
static double hamming(double x)
{
    const double angle = x * pi;
    if (x == 0.0)
        return 1.0;
    return x >= 1.0 ? 0.0 : sin(angle) / angle * ((double)0.54F + (double)0.46F * cos(angle));
}

static double bicubic(double x)
{
    if (x < 1.0)
        return (1.5 * x - 2.5) * x * x + 1.0;
    return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5 : 0.0;
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

static double filtered(int32_t filter, double x)
{
    const double size = fabs(x);
    switch ((dml_filter)filter) {
    case DML_FILTER_BOX:
        return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    case DML_FILTER_BILINEAR:
        return size < 1.0 ? 1.0 - size : 0.0;
    case DML_FILTER_HAMMING:
        return hamming(size);
    case DML_FILTER_BICUBIC:
        return bicubic(size);
    case DML_FILTER_LANCZOS:
        return dml_lanczos(x);
    case DML_FILTER_MKS2013:
        return mks2013(size);
    case DML_FILTER_MKS2021:
        return mks2021(size);
    }
    return 0.0; /* there is no other filter */
}

/* Inputs for each output: the difference is a float's. */
static double scale_of(const dml_weights_key *key)
{
    return (double)((float)key->to - (float)key->from) / (double)key->outputs;
}

static double support_of(const dml_weights_key *key)
{
    return supports[key->filter] * fmax(scale_of(key), 1.0);
}

int64_t dml_pillow_room(const dml_weights_key *key)
{
    const double room = ceil(support_of(key)) * 2.0 + 1.0;
    return room < (double)key->inputs ? (int64_t)room : key->inputs;
}

/* Row i: the filter at the inputs around its centre, divided by the sum. */
static void make_row(dml_weights_draft *draft, int64_t i, double centre, double support, double inverse)
{
    const int64_t begin = (int64_t)(centre - support + 0.5), end = (int64_t)(centre + support + 0.5);
    const int64_t first = begin > 0 ? begin : 0, last = end < draft->key->inputs ? end : draft->key->inputs;
    int64_t count = last - first;
    double sum = 0.0;
    count = count < 0 ? 0 : count;
    for (int64_t k = 0; k < count; k++) {
        draft->scratch[k] = filtered(draft->key->filter, ((double)(k + first) - centre + 0.5) * inverse);
        sum += draft->scratch[k];
    }
    for (int64_t k = 0; k < count; k++) {
        const double weight = sum != 0.0 ? draft->scratch[k] / sum : draft->scratch[k];
        dml_draft_row(draft, i)[k] = dml_round_away(weight * (double)(1 << FRACTION_BITS));
    }
    draft->first[i] = first;
    draft->count[i] = count;
}

void dml_pillow_weights(dml_weights_draft *draft)
{
    const dml_weights_key *key = draft->key;
    const double scale = scale_of(key), support = support_of(key), inverse = 1.0 / fmax(scale, 1.0);
    draft->shift = FRACTION_BITS;
    for (int64_t i = 0; i < key->outputs; i++)
        make_row(draft, i, key->from + ((double)i + 0.5) * scale, support, inverse);
}
