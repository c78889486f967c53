/* Where the indices of some of a plan's axes lie, one after the other, those of the last axis fastest:
 *
 *     do ... while (dml_odometer_next(&at));
 */
#ifndef DML_PLAN_ODOMETER_H
#define DML_PLAN_ODOMETER_H

#include "plan/plan.h"

typedef struct dml_odometer {
    const dml_plan *plan;    /* borrowed; no axis is empty */
    int64_t src, dst, entry; /* where the other axes have index 0: at first the plan's own offsets */
    int count;
    int axes[DML_MAX_AXES];
    int64_t index[DML_MAX_AXES];
} dml_odometer;

static inline void dml_odometer_begin(dml_odometer *at, const dml_plan *plan)
{
    at->plan = plan;
    at->src = plan->src_offset;
    at->dst = plan->dst_offset;
    at->entry = plan->entries.offset;
    at->count = 0;
}

static inline void dml_odometer_add(dml_odometer *at, int k)
{
    at->axes[at->count] = k;
    at->index[at->count++] = 0;
}

/* Over the axes along which entries advance. */
static inline void dml_odometer_of_entries(dml_odometer *at, const dml_plan *plan)
{
    dml_odometer_begin(at, plan);
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].entry_stride != 0)
            dml_odometer_add(at, k);
}

/* False behind the last index. */
static inline bool dml_odometer_next(dml_odometer *at)
{
    for (int i = at->count - 1; i >= 0; i--) {
        const dml_axis *axis = &at->plan->axes[at->axes[i]];
        const bool more = ++at->index[i] < axis->extent;
        const int64_t by = more ? 1 : 1 - axis->extent;
        at->index[i] = more ? at->index[i] : 0;
        at->src += by * axis->src_stride;
        at->dst += by * axis->dst_stride;
        at->entry += by * axis->entry_stride;
        if (more)
            return true;
    }
    return false;
}

#endif
