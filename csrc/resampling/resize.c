#include "resampling/resize.h"

#include <stddef.h>

#include "plan/taps.h"

enum { ROW_ALIGNMENT = 16 };

/* The pass along one of the two axes; -1: none. */
static int pass_of(const dml_resize *resize, int axis)
{
    for (int k = 0; k < resize->resampling->passes; k++)
        if (resize->resampling->axes[k] == axis)
            return k;
    return -1;
}

const dml_weights *dml_resize_weights(const dml_resize *resize, int axis)
{
    const int pass = pass_of(resize, axis);
    return pass < 0 ? NULL : resize->resampling->weights[pass];
}

/* --- what lies between the passes --------------------------------------------------------------------------------- */

/* The sum of a pass, as a plan of its own, which reads all inputs. */
static void set_sum(dml_plan *plan, const dml_resize *resize, int pass, const dml_sum *sum, const dml_tensor *from)
{
    const dml_resampling *resampling = resize->resampling;
    const dml_weights *weights = resampling->weights[pass];
    const int axis = resampling->axes[pass], k = resize->axes[axis];
    const dml_taps taps = {.count = weights->taps,
                           .stride = from->strides[k],
                           .inputs = from->shape[k],
                           .number = pass > 0 ? resampling->between : DML_UINT8};
    dml_plan_set_sum(plan, sum, &taps, dml_weights_row(weights, resize->begin[axis]));
}

/* Rows of an image begin at multiples of so many bytes that kernels load whole words. */
static void pack_rows(dml_tensor *between, const dml_resize *resize)
{
    int64_t bytes = between->item;
    for (int k = between->rank - 1; k >= 0; k--) {
        if (k == dml_smaller(resize->axes[0], resize->axes[1]))
            bytes = dml_ceil_div(bytes, ROW_ALIGNMENT) * ROW_ALIGNMENT;
        between->strides[k] = bytes;
        bytes *= between->shape[k];
    }
}

void dml_resize_between(const dml_program *program, dml_tensor *between, int64_t *begin)
{
    const dml_resize *resize = program->resize;
    const int k = resize->axes[resize->resampling->axes[1]];
    dml_tensor_copy(between, program->results);
    between->item = dml_number_bytes(resize->resampling->between);
    between->shape[k] = program->inputs->shape[k];
    between->strides[k] = 0; /* for the plan of one axis below */
    dml_plan plan;
    dml_plan_begin(&plan, 1);
    set_sum(&plan, resize, 1, &resize->resampling->first, between);
    dml_plan_add(&plan, program->results->shape[k], 0, 1);
    plan.axes[0].entry_stride = plan.entries.item;
    const dml_span inputs = dml_plan_inputs(&plan);
    *begin = inputs.begin;
    between->shape[k] = inputs.end - inputs.begin;
    pack_rows(between, resize);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* A pass from one array to another, of whose summed axis the first index is `begin`. */
static void make_pass(const dml_program *program, int pass, const dml_sum *sum, const dml_tensor *from, int64_t begin,
                      const dml_tensor *to, dml_plan *plan)
{
    const dml_resize *resize = program->resize;
    const int summed = resize->axes[resize->resampling->axes[pass]];
    dml_plan_begin(plan, to->item);
    set_sum(plan, resize, pass, sum, from);
    plan->taps.begin = begin;
    for (int k = 0; k < to->rank; k++) {
        dml_plan_add(plan, to->shape[k], k == summed ? 0 : from->strides[k], to->strides[k]);
        plan->axes[k].entry_stride = k == summed ? plan->entries.item : 0;
    }
}

/* Keeps those of a range of an axis' indices that the result has, of which the first is index `first`. */
static void keep(dml_plan *plan, int k, int64_t first, int64_t begin, int64_t end)
{
    const int64_t low = dml_larger(begin - first, 0), high = dml_smaller(end - first, plan->axes[k].extent);
    dml_plan_cut(plan, k, low < high ? low : 0, dml_larger(high - low, 0));
}

/* Of the items behind a column, which rows are none of, at most one axis has several. */
static void keep_part(const dml_resize *resize, const dml_resampled_part *part, dml_plan *plan)
{
    for (int axis = 0; axis < 2; axis++)
        keep(plan, resize->axes[axis], resize->begin[axis], part->begin[axis], part->end[axis]);
    for (int k = plan->rank - 1; k > resize->axes[DML_COLUMNS_AXIS]; k--)
        if (k != resize->axes[DML_ROWS_AXIS] && plan->axes[k].extent > 1)
            keep(plan, k, 0, part->begin[2], part->end[2]);
}

/* Bytes from the first element of the input to the first of those that the first pass reads. */
static int64_t source_offset(const dml_program *program, int64_t between_begin)
{
    const dml_resize *resize = program->resize;
    int64_t offset = resize->src_offset;
    for (int axis = 0; axis < 2; axis++) {
        const int64_t stride = program->inputs->strides[resize->axes[axis]];
        const int pass = pass_of(resize, axis);
        if (pass != 0)
            offset += stride * (pass < 0 ? resize->begin[axis] : between_begin);
    }
    return offset;
}

static void make_step(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_resize *resize = program->resize;
    const dml_resampling *resampling = resize->resampling;
    const int last = resampling->passes - 1;
    dml_tensor between = {.rank = 0};
    int64_t begin = 0;
    if (last > 0)
        dml_resize_between(program, &between, &begin);
    if (index < last) {
        make_pass(program, 0, &resampling->first, program->inputs, 0, &between, &step->plan);
        step->dst = DML_BETWEEN;
    } else {
        const dml_resampled_part *part = &resampling->parts[index - last];
        make_pass(program, last, &part->sum, last > 0 ? &between : program->inputs, begin, program->results, &step->plan);
        keep_part(resize, part, &step->plan);
        step->plan.dst_offset += resize->dst_offset;
        step->src = last > 0 ? DML_BETWEEN : 0;
    }
    if (step->src != DML_BETWEEN)
        step->plan.src_offset += source_offset(program, begin);
}

void dml_resize_describe(dml_program *program, const dml_resize *resize)
{
    program->resize = resize;
    program->count = resize->resampling->passes - 1 + resize->resampling->part_count;
    program->make = make_step;
}

double dml_resize_products(const dml_program *program)
{
    const dml_resampling *resampling = program->resize->resampling;
    dml_tensor between;
    int64_t begin;
    double products = 0;
    if (resampling->passes > 1) {
        dml_resize_between(program, &between, &begin);
        products = (double)dml_tensor_count(&between) * (double)resampling->weights[0]->taps;
    }
    const dml_weights *last = resampling->weights[resampling->passes - 1];
    return products + (double)dml_tensor_count(program->results) * (double)last->taps;
}

/* --- portions ----------------------------------------------------------------------------------------------------- */

/* Whether parts of the result may begin within an axis, that of a pixel's items: it stays whole. */
static bool has_parts_along(const dml_resize *resize, int k)
{
    return resize->resampling->part_count > 1 && k > resize->axes[DML_COLUMNS_AXIS] && k != resize->axes[DML_ROWS_AXIS];
}

/* Keeps `extent` indices of the result's axis k, from `begin` on, and the same of the input's where it is not resampled. */
static void cut_program(dml_program *program, dml_resize *resize, int k, int64_t begin, int64_t extent)
{
    resize->dst_offset += begin * program->results->strides[k];
    program->results->shape[k] = extent;
    for (int axis = 0; axis < 2; axis++)
        if (k == resize->axes[axis]) {
            resize->begin[axis] += begin;
            return;
        }
    resize->src_offset += begin * program->inputs->strides[k];
    program->inputs->shape[k] = extent;
}

bool dml_resize_portions(dml_portions *portions)
{
    const dml_program *whole = portions->program;
    const dml_tensor *result = whole->results;
    const int64_t bytes = dml_tensor_count(result) * result->item;
    int k = 0;
    while (k < result->rank - 1 && result->shape[k] < 2)
        k++;
    const int64_t extent = result->rank > 0 ? result->shape[k] : 1, each = extent > 0 ? bytes / extent : 0;
    const bool stays = each == 0 || has_parts_along(whole->resize, k);
    const int64_t tile = stays ? dml_larger(extent, 1) : dml_larger(portions->most / each, 1);
    bool more = bytes > 0;
    for (int64_t begin = 0; begin < extent && more; begin += tile) {
        dml_tensor inputs, results;
        dml_resize resize = *whole->resize;
        dml_program portion = *whole;
        dml_tensor_copy(&inputs, whole->inputs);
        dml_tensor_copy(&results, result);
        portion.inputs = &inputs;
        portion.results = &results;
        portion.resize = &resize;
        const int64_t some = dml_smaller(tile, extent - begin);
        cut_program(&portion, &resize, k, begin, some);
        more = portions->run(portions, &portion, each * some);
    }
    return more || bytes == 0;
}
