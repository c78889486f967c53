#include "core/portion.h"

static int64_t plan_bytes(const dml_plan *plan)
{
    return dml_plan_count(plan) * plan->item;
}

/* --- a part of one step --------------------------------------------------------------------------------------------- */

static void copy_step(dml_step *to, const dml_step *from)
{
    to->src = from->src;
    to->dst = from->dst;
    dml_plan_copy(&to->plan, &from->plan);
}

static void give_step(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    copy_step(step, program->other);
}

/* The outermost axis that can be cut, which may be made of the item, but not of one that fills or has a table; -1 if there is
 * none. */
static int axis_to_cut(dml_step *step)
{
    dml_plan *plan = &step->plan;
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].extent > 1 && k != plan->reversed)
            return k;
    int64_t word = dml_divisor((uint64_t)plan->item, 16);
    if (plan->item == word || plan->reversed >= 0 || dml_plan_has_table(plan) || step->src == DML_FILL)
        return -1;
    dml_plan_add(plan, plan->item / word, word, word);
    plan->item = word;
    return plan->rank - 1;
}

/* Runs a step with a simplified plan in portions. */
static bool run_step(dml_portions *portions, dml_step *step)
{
    int64_t bytes = plan_bytes(&step->plan);
    int k = bytes > portions->most ? axis_to_cut(step) : -1;
    if (k < 0) {
        dml_program portion = *portions->program;
        portion.count = 1;
        portion.make = give_step;
        portion.other = step;
        return portions->run(portions, &portion, bytes);
    }
    const dml_axis *axis = &step->plan.axes[k];
    int64_t tile = portions->most / (bytes / axis->extent);
    tile = tile > 0 ? tile : 1;
    for (int64_t begin = 0; begin < axis->extent; begin += tile) {
        dml_step part;
        copy_step(&part, step);
        dml_plan_cut(&part.plan, k, begin, dml_smaller(tile, axis->extent - begin));
        if (!run_step(portions, &part))
            return false;
    }
    return true;
}

/* --- several steps -------------------------------------------------------------------------------------------------- */

/* Runs steps [first, end) as one portion, if they have bytes. */
static bool run_range(dml_portions *portions, int64_t first, int64_t end, int64_t bytes)
{
    dml_program portion = *portions->program;
    portion.first = first;
    portion.count = end - first;
    return bytes == 0 || portions->run(portions, &portion, bytes);
}

bool dml_portions_run(dml_portions *portions)
{
    int64_t first = 0, gathered = 0, count = portions->program->count;
    for (int64_t i = 0; i < count; i++) {
        dml_step step;
        dml_program_step(portions->program, i, &step);
        int64_t bytes = plan_bytes(&step.plan);
        if (gathered + bytes > portions->most) {
            if (!run_range(portions, first, i, gathered))
                return false;
            first = i;
            gathered = 0;
        }
        gathered += bytes;
        if (bytes > portions->most) {
            dml_plan_simplify(&step.plan);
            if (!run_step(portions, &step))
                return false;
            first = i + 1;
            gathered = 0;
        }
    }
    return run_range(portions, first, count, gathered);
}
