#include "core/program.h"

void dml_program_step(const dml_program *program, int64_t index, dml_step *step)
{
    step->src = step->dst = 0;
    dml_plan_begin(&step->plan, program->inputs ? program->inputs->item : 0);
    program->make(program, index, step);
}

static void make_plan(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    dml_plan_copy(&step->plan, program->args);
}

void dml_program_of_plan(dml_program *program, const dml_plan *plan)
{
    *program = (dml_program){.count = 1, .make = make_plan, .args = plan};
}

int64_t dml_program_bytes(const dml_program *program)
{
    dml_step step;
    int64_t bytes = 0;
    for (int64_t i = 0; i < program->count; i++) {
        dml_program_step(program, i, &step);
        bytes += dml_plan_count(&step.plan) * step.plan.item;
    }
    return bytes;
}

/* --- windows ------------------------------------------------------------------------------------------------------- */

/* Three fills for each axis, and the window itself. */
enum { BEFORE, BETWEEN, BEHIND, FILLS };

/* Adds the indices of the window on an axis. */
static void add_window(const dml_window *window, int k, int64_t src_stride, int64_t dst_stride, dml_plan *plan)
{
    int64_t count = window->count[k];
    if (count > 0)
        plan->dst_offset += window->first[k] * dst_stride;
    dml_plan_add(plan, count, count > 1 ? src_stride : 0, count > 1 ? window->step[k] * dst_stride : 0);
}

/* Adds the indices of an axis that are not the window's: those before it, between its indices, or behind it. */
static void add_outside(const dml_window *window, int k, int64_t where, int64_t extent, int64_t stride, dml_plan *plan)
{
    int64_t count = window->count[k], first = count > 0 ? window->first[k] : extent, last = first;
    int64_t step = count > 1 ? dml_magnitude(window->step[k]) : 1;
    if (count > 0 && window->step[k] > 0)
        last = first + (count - 1) * step;
    else if (count > 0)
        first = last - (count - 1) * step;
    int64_t begin = where == BEFORE ? 0 : first + 1, size = where == BEFORE ? first : step - 1;
    if (where == BETWEEN)
        dml_plan_add(plan, count - (count > 0), 0, step * stride);
    if (where == BEHIND) {
        begin = last + 1;
        size = count > 0 ? extent - begin : 0;
    }
    if (size > 0)
        plan->dst_offset += begin * stride;
    dml_plan_add(plan, size, 0, stride);
}

/* A fill at axis k: the window on the axes before it, what is outside of the window on k, and all of those behind it. */
static void make_window(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_tensor *input = program->inputs, *result = program->results;
    int64_t axis = index / FILLS;
    step->src = axis < result->rank ? DML_FILL : 0;
    for (int k = 0; k < result->rank; k++) {
        int64_t stride = result->strides[k];
        if (k < axis)
            add_window(program->args, k, step->src == DML_FILL ? 0 : input->strides[k], stride, &step->plan);
        else if (k == axis)
            add_outside(program->args, k, index % FILLS, result->shape[k], stride, &step->plan);
        else
            dml_plan_add(&step->plan, result->shape[k], 0, stride);
    }
}

void dml_window_program(dml_program *program, const dml_window *window, const dml_tensor *input, const dml_tensor *result)
{
    *program = (dml_program){FILLS * (int64_t)result->rank + 1, make_window, window, input, result};
}

/* --- parts ------------------------------------------------------------------------------------------------------------ */

/* Where a part begins in the whole, which an empty array may not have. */
static int64_t offset_of(const dml_parts *parts, int64_t index, const dml_tensor *part, const dml_tensor *whole)
{
    return part->shape[parts->axis] > 0 ? parts->begin[index] * whole->strides[parts->axis] : 0;
}

static void make_join(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_tensor *input = &program->inputs[index];
    step->src = index;
    step->plan.dst_offset = offset_of(program->args, index, input, program->results);
    for (int k = 0; k < input->rank; k++)
        dml_plan_add(&step->plan, input->shape[k], input->strides[k], program->results->strides[k]);
}

static void make_split(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_tensor *result = &program->results[index];
    step->dst = index;
    step->plan.src_offset = offset_of(program->args, index, result, program->inputs);
    for (int k = 0; k < result->rank; k++)
        dml_plan_add(&step->plan, result->shape[k], program->inputs->strides[k], result->strides[k]);
}

void dml_join_program(dml_program *program, const dml_parts *parts, const dml_tensor *inputs, int64_t count,
                      const dml_tensor *result)
{
    *program = (dml_program){count, make_join, parts, inputs, result};
}

void dml_split_program(dml_program *program, const dml_parts *parts, const dml_tensor *input, const dml_tensor *results,
                       int64_t count)
{
    *program = (dml_program){count, make_split, parts, input, results};
}
