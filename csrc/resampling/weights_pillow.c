#include "resampling/weight_rules.h"

#include <math.h>

/* Half the width of each filter. */
static const double supports[] = {
    [DML_FILTER_BOX] = 0.5,     [DML_FILTER_BILINEAR] = 1.0, [DML_FILTER_HAMMING] = 1.0, [DML_FILTER_BICUBIC] = 2.0,
    [DML_FILTER_LANCZOS] = 3.0, [DML_FILTER_MKS2013] = 2.5,  [DML_FILTER_MKS2021] = 4.5,
};

enum { FRACTION_BITS = 22 };

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
    const dml_filter filter = (dml_filter)draft->key->filter;
    const int64_t begin = (int64_t)(centre - support + 0.5), end = (int64_t)(centre + support + 0.5);
    const int64_t first = begin > 0 ? begin : 0, last = end < draft->key->inputs ? end : draft->key->inputs;
    const dml_filter_taps taps = {first, last < first ? 0 : last - first, centre, inverse};
    bool near = dml_filter_has_near(filter), done = false;
    while (!done) {
        const double sum = dml_filter_run(filter, &taps, near, draft->scratch);
        done = dml_filter_round(draft->scratch, taps.count, sum, FRACTION_BITS, near, dml_draft_row(draft, i));
        near = false;
    }
    draft->first[i] = taps.first;
    draft->count[i] = taps.count;
}

void dml_pillow_weights(dml_weights_draft *draft)
{
    const dml_weights_key *key = draft->key;
    const double scale = scale_of(key), support = support_of(key), inverse = 1.0 / fmax(scale, 1.0);
    draft->shift = FRACTION_BITS;
    for (int64_t i = 0; i < key->outputs; i++)
        make_row(draft, i, key->from + ((double)i + 0.5) * scale, support, inverse);
}
