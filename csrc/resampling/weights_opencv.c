#include "resampling/weight_rules.h"

#include <math.h>
#include <string.h>

/* What a weight of one is: 11 bits, but for LINEAR_EXACT. */
enum { ONE = 1 << 11, EXACT_ONE = 1 << 8, CUBIC_TAPS = 4, LANCZOS_TAPS = 8 };

/* An input, and how far an output lies behind it. */
typedef struct position {
    int64_t input;
    float fraction;
} position;

static int32_t fixed(float weight)
{
    const float value = rintf(weight * (float)ONE);
    if (value < -32768.0F)
        return INT16_MIN;
    return value < 32767.0F ? (int32_t)value : INT16_MAX;
}

/* Inputs for each output: the division is not the same as that of the sizes. */
static double scale_of(const dml_weights_key *key)
{
    return 1.0 / key->from;
}

static position centre_of(const dml_weights_key *key, int64_t i)
{
    const float at = (float)(((double)i + 0.5) * scale_of(key) - 0.5), whole = floorf(at);
    return (position){(int64_t)whole, at - whole};
}

static position enlarged_of(const dml_weights_key *key, int64_t i)
{
    const double whole = floor((double)i * scale_of(key));
    const float at = (float)(((double)i + 1.0) - (whole + 1.0) * key->from);
    return (position){(int64_t)whole, at <= 0.0F ? 0.0F : at - floorf(at)};
}

/* Two taps; outside the inputs a column is one whole pixel, while a row is two of the edge. */
static void two_taps(dml_weights_draft *draft, int64_t i, position at, bool columns)
{
    const int64_t most = draft->key->inputs - 1;
    if (columns && (at.input < 0 || at.input >= most))
        at = (position){at.input < 0 ? 0 : most, 0.0F};
    draft->first[i] = at.input;
    draft->count[i] = 2;
    dml_draft_row(draft, i)[0] = fixed(1.0F - at.fraction);
    dml_draft_row(draft, i)[1] = fixed(at.fraction);
}

static void exact_taps(dml_weights_draft *draft, int64_t i)
{
    const int64_t inputs = draft->key->inputs;
    const double at = scale_of(draft->key) * ((double)i + 0.5) - 0.5, whole = floor(at);
    const bool before = whole < 0.0 || inputs == 1, behind = whole >= (double)(inputs - 1);
    const int32_t second = before || behind ? 0 : (int32_t)rint((at - whole) * (double)EXACT_ONE);
    draft->first[i] = dml_clamp((int64_t)whole, 0, inputs - 1);
    draft->count[i] = 2;
    dml_draft_row(draft, i)[0] = EXACT_ONE - second;
    dml_draft_row(draft, i)[1] = second;
}

static void cubic_taps(dml_weights_draft *draft, int64_t i)
{
    const position at = centre_of(draft->key, i);
    const float a = -0.75F, f = at.fraction, u = f + 1.0F, v = 1.0F - f;
    const float c0 = ((a * u - 5.0F * a) * u + 8.0F * a) * u - 4.0F * a;
    const float c1 = ((a + 2.0F) * f - (a + 3.0F)) * f * f + 1.0F;
    const float c2 = ((a + 2.0F) * v - (a + 3.0F)) * v * v + 1.0F;
    const float weights[CUBIC_TAPS] = {c0, c1, c2, 1.0F - c0 - c1 - c2};
    draft->first[i] = at.input - 1;
    draft->count[i] = CUBIC_TAPS;
    for (int k = 0; k < CUBIC_TAPS; k++)
        dml_draft_row(draft, i)[k] = fixed(weights[k]);
}

/* Sine and cosine of the angle of each tap come from those of the first. */
static void lanczos_taps(dml_weights_draft *draft, int64_t i)
{
    static const double pi = 3.14159265358979323846, s = 0.70710678118654752440;
    const double sines[] = {1, -s, 0, s, -1, s, 0, -s}, cosines[] = {0, -s, 1, -s, 0, s, -1, s};
    const position at = centre_of(draft->key, i);
    const float begin = at.fraction + 3.0F;
    const double angle = -(double)begin * pi * 0.25, sine = sin(angle), cosine = cos(angle);
    float weights[LANCZOS_TAPS], sum = 0.0F;
    for (int k = 0; k < LANCZOS_TAPS; k++) {
        const float x = begin - (float)k;
        const double y = -(double)x * pi * 0.25;
        weights[k] = fabsf(x) >= 1e-6F ? (float)((sines[k] * sine + cosines[k] * cosine) / (y * y)) : 1e30F;
        sum += weights[k];
    }
    sum = 1.0F / sum;
    draft->first[i] = at.input - 3;
    draft->count[i] = LANCZOS_TAPS;
    for (int k = 0; k < LANCZOS_TAPS; k++)
        dml_draft_row(draft, i)[k] = fixed(weights[k] * sum);
}

static void set_float(int32_t *value, double weight)
{
    const float single = (float)weight;
    memcpy(value, &single, sizeof single);
}

/* The parts of inputs that lie in [i * scale, (i + 1) * scale), each divided by what of that the inputs have. */
static void area_taps(dml_weights_draft *draft, int64_t i)
{
    const double size = (double)draft->key->inputs, scale = scale_of(draft->key);
    const double begin = (double)i * scale, end = begin + scale, cell = fmin(scale, size - begin);
    const int64_t last = (int64_t)fmin(floor(end), size - 1.0), first = (int64_t)fmin(ceil(begin), (double)last);
    int32_t *row = dml_draft_row(draft, i);
    int64_t count = 0;
    draft->first[i] = first;
    if ((double)first - begin > 1e-3) {
        draft->first[i]--;
        set_float(&row[count++], ((double)first - begin) / cell);
    }
    for (int64_t k = first; k < last; k++)
        set_float(&row[count++], 1.0 / cell);
    if (end - (double)last > 1e-3)
        set_float(&row[count++], fmin(fmin(end - (double)last, 1.0), cell) / cell);
    draft->count[i] = count;
}

static void block_taps(dml_weights_draft *draft, int64_t i)
{
    const int64_t factor = (int64_t)draft->key->from, left = draft->key->inputs - i * factor;
    draft->first[i] = i * factor;
    draft->count[i] = left < factor ? left : factor;
    for (int64_t k = 0; k < draft->count[i]; k++)
        dml_draft_row(draft, i)[k] = 1;
}

static void make_row(dml_weights_draft *draft, int64_t i)
{
    const dml_weights_key *key = draft->key;
    switch ((dml_weight_rule)key->rule) {
    case DML_RULE_OPENCV_LINEAR:
    case DML_RULE_OPENCV_LINEAR_ROWS:
        two_taps(draft, i, centre_of(key, i), key->rule == DML_RULE_OPENCV_LINEAR);
        break;
    case DML_RULE_OPENCV_ENLARGED:
    case DML_RULE_OPENCV_ENLARGED_ROWS:
        two_taps(draft, i, enlarged_of(key, i), key->rule == DML_RULE_OPENCV_ENLARGED);
        break;
    case DML_RULE_OPENCV_LINEAR_EXACT:
        exact_taps(draft, i);
        break;
    case DML_RULE_OPENCV_CUBIC:
    case DML_RULE_OPENCV_CUBIC_ROWS:
        cubic_taps(draft, i);
        break;
    case DML_RULE_OPENCV_LANCZOS4:
        lanczos_taps(draft, i);
        break;
    case DML_RULE_OPENCV_AREA:
        area_taps(draft, i);
        break;
    default:
        block_taps(draft, i);
        break;
    }
}

int64_t dml_opencv_room(const dml_weights_key *key)
{
    const int64_t most = key->inputs + 2;
    switch ((dml_weight_rule)key->rule) {
    case DML_RULE_OPENCV_CUBIC:
    case DML_RULE_OPENCV_CUBIC_ROWS:
        return CUBIC_TAPS;
    case DML_RULE_OPENCV_LANCZOS4:
        return LANCZOS_TAPS;
    case DML_RULE_OPENCV_AREA:
        return scale_of(key) + 3.0 < (double)most ? (int64_t)(scale_of(key) + 3.0) : most;
    case DML_RULE_BLOCKS:
        return key->from < (double)key->inputs ? (int64_t)key->from : key->inputs;
    default:
        return 2;
    }
}

void dml_opencv_weights(dml_weights_draft *draft)
{
    const int32_t rule = draft->key->rule;
    const bool whole = rule == DML_RULE_OPENCV_AREA || rule == DML_RULE_BLOCKS;
    draft->shift = whole ? 0 : 11;
    if (rule == DML_RULE_OPENCV_LINEAR_EXACT)
        draft->shift = 8;
    draft->is_float = rule == DML_RULE_OPENCV_AREA;
    draft->folds = rule == DML_RULE_OPENCV_CUBIC || rule == DML_RULE_OPENCV_LANCZOS4;
    for (int64_t i = 0; i < draft->key->outputs; i++)
        make_row(draft, i);
}
