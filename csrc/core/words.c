#include "core/words.h"

#include "abi.h"

/* The innermost axis of more than one index, but for one (or -1). */
static int innermost(const dml_plan *plan, int but)
{
    int k = plan->rank - 1;
    while (k >= 0 && (plan->axes[k].extent == 1 || k == but))
        k--;
    return k;
}

static bool can_be_row(const dml_plan *plan, int k, int32_t scalar)
{
    if (plan->item != scalar || k == plan->reversed || plan->axes[k].entry_stride != 0)
        return false;
    int64_t step = dml_magnitude(plan->axes[k].src_stride);
    return step >= scalar && step <= DML_MAX_WORDS_STEP * (int64_t)scalar;
}

bool dml_words_find(const dml_plan *plan, int32_t scalar, dml_words *words)
{
    if (!dml_plan_is_dense(plan))
        return false;
    int axis = innermost(plan, -1);
    if (axis >= 0 && !can_be_row(plan, axis, scalar))
        axis = -1;
    *words = (dml_words){.plan = plan, .axis = axis, .scalar = scalar, .row = plan->item, .ratio = 1};
    if (axis >= 0) {
        words->row = plan->axes[axis].extent * scalar;
        words->ratio = plan->axes[axis].src_stride / scalar;
    }
    int next = innermost(plan, axis);
    words->pitch = next < 0 ? 0 : dml_magnitude(plan->axes[next].src_stride);
    return true;
}
