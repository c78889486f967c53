#include "plan/taps.h"

#include <string.h>

#include "plan/odometer.h"

int64_t dml_number_bytes(dml_number number)
{
    static const int64_t bytes[] = {[DML_UINT8] = 1, [DML_UINT16] = 2, [DML_INT32] = 4, [DML_FLOAT32] = 4};
    return bytes[number];
}

void dml_plan_set_sum(dml_plan *plan, const dml_sum *sum, const dml_taps *taps, const void *rows)
{
    plan->sum = *sum;
    plan->taps = *taps;
    plan->src_item = dml_number_bytes(taps->number);
    plan->entries = (dml_entries){.data = rows, .item = 4 * (1 + taps->count)};
}

/* --- which inputs are read ---------------------------------------------------------------------------------------- */

/* Grows a span by the inputs of the weights at `offset`. */
static void grow_by_row(const dml_plan *plan, int64_t offset, dml_span *inputs)
{
    const dml_taps *taps = &plan->taps;
    const int64_t last = taps->begin + taps->inputs - 1;
    int32_t first;
    memcpy(&first, (const char *)plan->entries.data + offset, sizeof first);
    const int64_t low = dml_clamp(first, taps->begin, last);
    const int64_t high = dml_clamp(first + taps->count - 1, taps->begin, last);
    inputs->begin = dml_smaller(inputs->begin, low);
    inputs->end = dml_larger(inputs->end, high + 1);
}

dml_span dml_plan_inputs(const dml_plan *plan)
{
    const dml_taps *taps = &plan->taps;
    dml_span inputs = {taps->begin + taps->inputs, taps->begin};
    if (!plan->entries.data || dml_plan_count(plan) == 0)
        return (dml_span){taps->begin, taps->begin + taps->inputs};
    dml_odometer at;
    dml_odometer_of_entries(&at, plan);
    do
        grow_by_row(plan, at.entry, &inputs);
    while (dml_odometer_next(&at));
    return inputs;
}

void dml_plan_narrow(dml_plan *plan)
{
    const dml_span inputs = dml_plan_inputs(plan);
    plan->src_offset += (inputs.begin - plan->taps.begin) * plan->taps.stride;
    plan->taps.begin = inputs.begin;
    plan->taps.inputs = inputs.end - inputs.begin;
}
