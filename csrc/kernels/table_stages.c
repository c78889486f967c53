#include "kernels/table_stages.h"

#include "abi.h"
#include "kernels/lookups.h"

enum { LONG_ROW = 1024 }; /* elements: rows of the destination that are longer lose little by being several */

/* Whether one pass takes less than two: a window has a tile's numbers, and bytes that become bytes have no others in it; or
 * pixels stay together whose bytes become longer, but not of mirrors. */
static bool are_near(const dml_lookups *lookups)
{
    const dml_plan *plan = &lookups->plan;
    const bool are_pixels = lookups->words == DML_TABLES_MIXED;
    if (plan->item > 1 && plan->axes[lookups->run].src_stride < 0)
        return false;
    if (are_pixels && !lookups->windowed)
        return plan->src_item == 1 && plan->item > 1 && dml_magnitude(plan->axes[lookups->side].src_stride) == plan->src_item;
    const int64_t stride = dml_magnitude(plan->axes[lookups->run].src_stride);
    return lookups->windowed && (are_pixels || plan->item > 1 || stride == plan->src_item);
}

/* Whether a dense destination has short rows, which do not continue each other in the source, but whose elements do; such of
 * 3 bytes take long to be moved. */
static bool are_short(const dml_plan *plan)
{
    const dml_axis *inner = &plan->axes[plan->rank - 1];
    const int64_t row = inner->extent * plan->src_item;
    return plan->rank > 1 && inner->src_stride == plan->src_item && inner[-1].src_stride != row && inner->extent <= LONG_ROW &&
           (row >= 32 || (row >= 4 && dml_divisor((uint64_t)row, row) == row)) && dml_plan_is_dense(plan);
}

/* The plan is simplified. */
static bool gains(const dml_plan *plan, const dml_tunables *tunables)
{
    dml_lookups lookups;
    if (!dml_plan_has_table(plan) || dml_plan_count(plan) < tunables->staged_table)
        return false;
    if (are_short(plan))
        return true;
    dml_lookups_find(plan, (uint32_t)plan->dst_offset, true, &lookups);
    return lookups.words == DML_TABLES_SCALARS ? dml_plan_is_dense(plan) : !are_near(&lookups);
}

/* Step `index` of the program, simplified; whether it gains. */
static bool find_step(const dml_table_stages *stages, int64_t index, dml_step *step)
{
    dml_program_step(stages->of, index, step);
    dml_plan_simplify(&step->plan);
    return gains(&step->plan, stages->tunables);
}

/* Moves the numbers of a plan into its destination's order, without gaps. */
static void gather(const dml_plan *plan, dml_plan *to)
{
    int64_t stride = plan->src_item;
    dml_plan_begin(to, plan->src_item);
    to->src_offset = plan->src_offset;
    for (int k = plan->rank - 1; k >= 0; stride *= plan->axes[k--].extent)
        dml_plan_add(to, plan->axes[k].extent, plan->axes[k].src_stride, stride);
}

/* Has the plan read its numbers there. */
static void read_gathered(dml_plan *plan)
{
    int64_t stride = plan->src_item;
    plan->src_offset = 0;
    for (int k = plan->rank - 1; k >= 0; stride *= plan->axes[k--].extent)
        plan->axes[k].src_stride = stride;
}

/* Two steps for each: an empty one and the step itself where it does not gain. */
static void make_stage(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_table_stages *stages = program->other;
    const bool second = index % 2 == 1;
    dml_step whole;
    const bool staged = find_step(stages, index / 2, second ? step : &whole);
    if (second && staged) {
        step->src = DML_BETWEEN;
        read_gathered(&step->plan);
    } else if (staged) {
        step->src = whole.src;
        step->dst = DML_BETWEEN;
        gather(&whole.plan, &step->plan);
    } else if (!second) {
        dml_plan_add(&step->plan, 0, 0, 0);
    }
}

bool dml_table_stages_begin(const dml_program *program, const dml_tunables *tunables, dml_table_stages *stages)
{
    *stages = (dml_table_stages){.program = *program, .of = program, .tunables = tunables};
    const bool may_gain = program->tables && tunables->staged_table > 0;
    for (int64_t i = 0; may_gain && i < program->count; i++) {
        dml_step step;
        if (find_step(stages, i, &step))
            stages->bytes = dml_larger(stages->bytes, dml_plan_count(&step.plan) * step.plan.src_item);
    }
    stages->program.count = 2 * program->count;
    stages->program.first = 0;
    stages->program.make = make_stage;
    stages->program.other = stages;
    return stages->bytes > 0;
}
