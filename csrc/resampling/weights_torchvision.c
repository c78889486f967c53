#include "resampling/weight_rules.h"

#include <math.h>
#include <string.h>

enum { MOST_FRACTION_BITS = 22, LIMIT = 1 << 15 };

/* How many inputs the filter covers. */
static int taps_of(int32_t filter)
{
    if (filter == DML_FILTER_BILINEAR)
        return 2;
    return filter == DML_FILTER_BICUBIC ? 4 : 6;
}

static double cubic(double x, double a)
{
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a : 0.0;
}

/* Not antialiased. */
static double filtered(int32_t filter, double x, double a)
{
    const double size = fabs(x);
    if (filter == DML_FILTER_BILINEAR)
        return size < 1.0 ? 1.0 - size : 0.0;
    return cubic(size, a);
}

static double scale_of(const dml_weights_key *key)
{
    return (double)key->inputs / (double)key->outputs;
}

static double support_of(const dml_weights_key *key)
{
    return taps_of(key->filter) * 0.5 * fmax(scale_of(key), 1.0);
}

int64_t dml_torchvision_room(const dml_weights_key *key)
{
    if (key->rule == DML_RULE_TORCHVISION_PLAIN)
        return taps_of(key->filter);
    const double room = ceil(support_of(key)) * 2.0 + 1.0;
    return room < (double)key->inputs ? (int64_t)room : key->inputs;
}

/* Row i of weights in double, whose largest is returned. */
static double antialiased_row(dml_weights_draft *draft, int64_t i, double scale, double support, bool near)
{
    const double centre = scale * ((double)i + 0.5), inverse = scale >= 1.0 ? 1.0 / scale : 1.0;
    const int64_t first = dml_clamp((int64_t)(centre - support + 0.5), 0, draft->key->inputs);
    const int64_t last = dml_clamp((int64_t)(centre + support + 0.5), 0, draft->key->inputs);
    const dml_filter_taps taps = {first, dml_clamp(last - first, 0, draft->room), centre, inverse};
    double *scratch = draft->scratch + i * draft->room, largest = 0.0;
    const double sum = dml_filter_run((dml_filter)draft->key->filter, &taps, near, scratch);
    for (int64_t k = 0; k < taps.count; k++) {
        scratch[k] = sum != 0.0 ? scratch[k] / sum : scratch[k];
        largest = scratch[k] > largest ? scratch[k] : largest;
    }
    draft->first[i] = first;
    draft->count[i] = taps.count;
    return largest;
}

/* The same without antialiasing: taps outside the inputs go to the edge, and sums that are only begun count as the largest. */
static double plain_row(dml_weights_draft *draft, int64_t i, double scale)
{
    const int64_t inputs = draft->key->inputs, taps = draft->room, half = taps / 2;
    const double centre = scale * ((double)i + 0.5) - 0.5;
    const double position = draft->key->filter == DML_FILTER_BILINEAR ? fmax(centre, 0.0) : centre;
    const int64_t base = dml_clamp((int64_t)floorf((float)position), INT64_MIN, inputs - 1), begin = base - half + 1;
    const double fraction = fmin(fmax(position - (double)base, 0.0), 1.0);
    const int64_t first = begin > 0 ? begin : 0, end = dml_clamp(base + half + 1, 0, inputs);
    double *scratch = draft->scratch + i * taps, largest = 0.0;
    memset(scratch, 0, (size_t)taps * sizeof *scratch);
    for (int64_t k = 0; k < taps; k++) {
        const int64_t at = dml_clamp(begin + k, 0, inputs - 1) - first;
        scratch[at] += filtered(draft->key->filter, (double)(k + 1 - half) - fraction, -0.75);
        largest = fmax(largest, scratch[at]);
    }
    draft->first[i] = first;
    draft->count[i] = end - first;
    return largest;
}

/* As many bits as leave the largest weight an int16. */
static int32_t fraction_bits(double largest)
{
    int32_t bits = 0;
    while (bits < MOST_FRACTION_BITS && (int64_t)(0.5 + largest * (double)(1 << (bits + 1))) < LIMIT)
        bits++;
    return bits;
}

/* Whether a value that is near may be another number than its own is, after it is rounded. */
static bool is_open(double value, int32_t shift)
{
    const double distance = fabs(value - floor(value));
    return fabs(distance - 0.5) <= DML_NEAR_ENOUGH * (double)(1 << shift);
}

/* False if values that are near leave open what a weight is. */
static bool make_rows(dml_weights_draft *draft, bool near)
{
    const int64_t outputs = draft->key->outputs;
    const double scale = scale_of(draft->key), support = support_of(draft->key);
    double largest = 0.0;
    bool open = false;
    for (int64_t i = 0; i < outputs; i++)
        largest =
            fmax(largest, draft->key->rule == DML_RULE_TORCHVISION_PLAIN ? plain_row(draft, i, scale)
                                                                         : antialiased_row(draft, i, scale, support, near));
    draft->shift = fraction_bits(largest);
    if (near)
        open = is_open(largest * (double)(1 << (draft->shift + 1)), draft->shift + 1);
    for (int64_t i = 0; i < outputs; i++)
        for (int64_t k = 0; k < draft->count[i]; k++) {
            const double weight = draft->scratch[i * draft->room + k] * (double)(1 << draft->shift);
            open = open || (near && is_open(weight, draft->shift));
            dml_draft_row(draft, i)[k] = (int16_t)dml_round_away(weight);
        }
    return !open;
}

void dml_torchvision_weights(dml_weights_draft *draft)
{
    const bool near = draft->key->rule == DML_RULE_TORCHVISION && dml_filter_has_near((dml_filter)draft->key->filter);
    if (!make_rows(draft, near))
        make_rows(draft, false);
}
