#include "kernels/walk.h"

#include "plan/taps.h"

/* The axis along which weights advance most; -1 if none does. */
static int summed_axis(const dml_plan *plan)
{
    int summed = -1;
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].entry_stride != 0 &&
            (summed < 0 || dml_magnitude(plan->axes[k].entry_stride) > dml_magnitude(plan->axes[summed].entry_stride)))
            summed = k;
    return summed;
}

int64_t dml_taps_reach(const dml_split *split)
{
    const dml_plan *whole = &split->plan;
    const int k = summed_axis(whole);
    if (!dml_plan_has_sum(whole))
        return 0;
    const int64_t extent = k < 0 ? 1 : whole->axes[k].extent, tile = k < 0 ? 1 : split->tile[k];
    int64_t most = 1;
    for (int64_t begin = 0; begin < extent; begin += tile) {
        dml_plan piece;
        dml_plan_copy(&piece, whole);
        if (k >= 0)
            dml_plan_cut(&piece, k, begin, dml_smaller(tile, extent - begin));
        const dml_span inputs = dml_plan_inputs(&piece);
        most = dml_larger(most, inputs.end - inputs.begin);
    }
    return (most - 1) * dml_magnitude(whole->taps.stride);
}

int64_t dml_taps_fit(dml_split *split, int64_t limit)
{
    const int64_t room = limit - limit / 8, before = dml_taps_reach(split);
    const int k = summed_axis(&split->plan);
    int64_t reach = before;
    while (k >= 0 && reach > room && split->tile[k] > 1) {
        split->tile[k] = dml_ceil_div(split->tile[k], 2);
        reach = dml_taps_reach(split);
    }
    return before - reach;
}
