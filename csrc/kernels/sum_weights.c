#include "kernels/sum_weights.h"

#include <string.h>

enum { HEADER = 16, GROUP = 4 };

int64_t dml_sum_weights_row(const dml_sum_weights *weights)
{
    return HEADER + (int64_t)4 * GROUP * weights->groups;
}

int64_t dml_sum_weights_bytes(const dml_sum_weights *weights, const dml_plan *plan)
{
    const dml_span span = dml_plan_entry_span(plan);
    return (span.end - span.begin) / plan->entries.item * dml_sum_weights_row(weights);
}

/* --- rows ------------------------------------------------------------------------------------------------------------ */

static int32_t first_of(const dml_plan *plan, const char *row)
{
    int32_t first;
    memcpy(&first, row, sizeof first);
    return first - (int32_t)plan->taps.begin;
}

static uint32_t weight_of(const char *row, int64_t tap)
{
    uint32_t weight;
    memcpy(&weight, row + 4 + tap * 4, sizeof weight);
    return weight;
}

/* How many taps a row has up to the last that has a weight. */
static int64_t taps_of(const dml_plan *plan, const char *row)
{
    int64_t taps = plan->taps.count;
    while (taps > 1 && weight_of(row, taps - 1) == 0)
        taps--;
    return taps;
}

/* The input that a tap reads. */
static int64_t clamped(const dml_plan *plan, int64_t input, bool mirrored)
{
    const int64_t last = plan->taps.inputs - 1, index = dml_clamp(input, 0, last);
    return mirrored ? last - index : index;
}

dml_span dml_sum_weights_inputs(const dml_plan *plan, const char *row, bool mirrored)
{
    const int64_t first = first_of(plan, row);
    const int64_t a = clamped(plan, first, mirrored), b = clamped(plan, first + taps_of(plan, row) - 1, mirrored);
    return (dml_span){dml_smaller(a, b), dml_larger(a, b) + 1};
}

static void pack_whole(const dml_sum_weights *weights, const dml_plan *plan, const char *row, char *to)
{
    const int64_t first = first_of(plan, row), taps = taps_of(plan, row);
    const int32_t begin = (int32_t)dml_sum_weights_inputs(plan, row, weights->mirrored).begin;
    const int32_t from = weights->units ? begin / GROUP * GROUP : begin;
    memcpy(to, &from, sizeof from);
    if (!weights->mirrored && begin == first && first + taps <= plan->taps.inputs) {
        memcpy(to + HEADER + (int64_t)(begin - from) * 4, row + sizeof from, (size_t)taps * 4);
        return;
    }
    for (int64_t tap = 0; tap < taps; tap++) {
        char *at = to + HEADER + (clamped(plan, first + tap, weights->mirrored) - from) * 4;
        uint32_t sum;
        memcpy(&sum, at, sizeof sum);
        sum += weight_of(row, tap);
        memcpy(at, &sum, sizeof sum);
    }
}

static void pack_row(const dml_sum_weights *weights, const dml_plan *plan, const char *row, char *to)
{
    memset(to, 0, (size_t)dml_sum_weights_row(weights));
    if (weights->whole) {
        pack_whole(weights, plan, row, to);
        return;
    }
    const int32_t first = first_of(plan, row);
    memcpy(to, &first, sizeof first);
    memcpy(to + HEADER, row + sizeof first, (size_t)plan->taps.count * 4);
}

void dml_sum_weights_pack(const dml_sum_weights *weights, const dml_plan *plan, char *to)
{
    const dml_span span = dml_plan_entry_span(plan);
    for (int64_t at = span.begin; at < span.end; at += plan->entries.item, to += dml_sum_weights_row(weights))
        pack_row(weights, plan, (const char *)plan->entries.data + at, to);
}
