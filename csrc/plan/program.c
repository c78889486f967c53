#include "plan/program.h"

void dml_program_step(const dml_program *program, int64_t index, dml_step *step)
{
    step->src = step->dst = 0;
    dml_plan_begin(&step->plan, program->inputs ? program->inputs->item : 0);
    program->make(program, program->first + index, step);
}

static void make_plan(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    dml_plan_copy(&step->plan, program->other);
}

void dml_program_of_plan(dml_program *program, const dml_plan *plan)
{
    *program = (dml_program){.count = 1, .make = make_plan, .input_count = 1, .result_count = 1, .other = plan};
}

int64_t dml_program_bytes(const dml_program *program)
{
    dml_step step;
    int64_t bytes = 0;
    for (int64_t i = 0; i < program->count; i++) {
        dml_program_step(program, i, &step);
        bytes += step.dst == DML_BETWEEN ? 0 : dml_plan_bytes(&step.plan);
    }
    return bytes;
}

void dml_entry_strides(const dml_program *program, const dml_ints *shape, int64_t strides[DML_MAX_RANK])
{
    int64_t dense = program->entries.item;
    for (int k = (int)shape->count - 1; k >= 0; k--) {
        strides[k] = program->entry_strides ? program->entry_strides[k] : dense;
        dense *= shape->value[k];
    }
}

void dml_plan_add_axes(dml_plan *plan, const dml_tensor *shape, const dml_tensor *from, const dml_tensor *to)
{
    for (int k = 0; k < shape->rank; k++)
        dml_plan_add(plan, shape->shape[k], from->strides[k], to->strides[k]);
}

void dml_plan_add_map(dml_plan *plan, const dml_index_map *map, int64_t src_stride, int64_t dst_stride)
{
    int64_t times = map->times > 0 ? map->times : 0, extent = map->extent > 0 ? map->extent : 0;
    if (times > 0 && extent > 0) {
        plan->src_offset += map->src * src_stride;
        plan->dst_offset += map->first * dst_stride;
    }
    /* A stride that is never taken could overflow. */
    if (times != 1)
        dml_plan_add(plan, times, 0, times > 1 ? map->period * dst_stride : 0);
    dml_plan_add(plan, extent, extent > 1 ? map->src_stride * src_stride : 0, extent > 1 ? map->stride * dst_stride : 0);
}

/* --- insets ------------------------------------------------------------------------------------------------------- */

/* Three fills for each axis, and the inset itself. */
enum { BEFORE, BETWEEN, BEHIND, FILLS };

int64_t dml_inset_steps(const dml_tensor *result)
{
    return FILLS * (int64_t)result->rank + 1;
}

/* The indices of an axis that are not the inset's: those before it, between its indices, or behind it. */
static dml_index_map outside(const dml_index_map *inset, int where, int64_t size)
{
    int64_t count = inset->extent, stride = count > 1 ? dml_magnitude(inset->stride) : 1, reach = (count - 1) * stride;
    int64_t low = inset->stride < 0 ? inset->first - reach : inset->first;
    if (count == 0)
        low = size; /* all is before it */
    const dml_index_map maps[FILLS] = {
        [BEFORE] = {.extent = low, .stride = 1, .times = 1},
        [BETWEEN] = {.first = low + 1, .extent = stride - 1, .stride = 1, .times = count - 1, .period = stride},
        [BEHIND] = {.first = low + reach + 1, .extent = size - (low + reach + 1), .stride = 1, .times = 1},
    };
    return maps[where];
}

/* A fill at axis k: the inset on the axes before it, what is outside of the inset on k, and all of those behind it. */
void dml_inset_step(const dml_program *program, const dml_index_map *inset, int64_t index, dml_step *step)
{
    const dml_tensor *input = program->inputs, *result = program->results;
    int axis = (int)(index / FILLS);
    bool fills = axis < result->rank;
    step->src = fills ? DML_FILL : 0;
    dml_index_map fill = {.extent = 0};
    if (fills)
        fill = outside(&inset[axis], (int)(index % FILLS), result->shape[axis]);
    if (fills && (fill.extent <= 0 || fill.times <= 0)) {
        dml_plan_add(&step->plan, 0, 0, 0); /* most are empty */
        return;
    }
    for (int k = 0; k < axis; k++)
        dml_plan_add_map(&step->plan, &inset[k], fills ? 0 : input->strides[k], result->strides[k]);
    if (fills)
        dml_plan_add_map(&step->plan, &fill, 0, result->strides[axis]);
    for (int k = axis + 1; k < result->rank; k++)
        dml_plan_add(&step->plan, result->shape[k], 0, result->strides[k]);
}

/* --- portions of one step ----------------------------------------------------------------------------------------- */

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

/* The outermost axis that can be cut, which may be made of the item, but not of one that fills or does more than move; -1 if
 * there is none. */
static int axis_to_cut(dml_step *step)
{
    dml_plan *plan = &step->plan;
    const int k = dml_plan_axis_to_cut(plan, 2);
    if (k >= 0)
        return k;
    if (dml_divisor((uint64_t)plan->item, 16) == plan->item || plan->reversed >= 0 || !dml_plan_moves(plan) ||
        step->src == DML_FILL)
        return -1;
    dml_plan_divide_item(plan, 16);
    return plan->rank - 1;
}

/* Runs a step with a simplified plan in portions. */
static bool run_step(dml_portions *portions, dml_step *step)
{
    int64_t bytes = dml_plan_bytes(&step->plan);
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
        dml_step cut;
        copy_step(&cut, step);
        dml_plan_cut(&cut.plan, k, begin, dml_smaller(tile, axis->extent - begin));
        if (!run_step(portions, &cut))
            return false;
    }
    return true;
}

/* --- portions of several steps ------------------------------------------------------------------------------------ */

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
        int64_t bytes = dml_plan_bytes(&step.plan);
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
