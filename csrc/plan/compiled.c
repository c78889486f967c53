#include "plan/compiled.h"

#include <stddef.h>

/* Grows a span by what an axis reaches; false where that is no number of 64 bits. */
static bool grow(dml_span *span, int64_t extent, int64_t stride)
{
    const int64_t most = INT64_MAX / 4;
    if (extent < 1 || (extent > 1 && dml_magnitude(stride) > most / (extent - 1)))
        return false;
    dml_span_grow(span, extent, stride);
    return span->begin > -most && span->end < most;
}

/* The bytes of an input that a step may read, or of the constants. */
static bool find_source(const dml_compiled *compiled, const dml_compiled_step *step, dml_span *span)
{
    *span = (dml_span){0, compiled->constant_bytes};
    if (step->src == DML_FILL)
        return true;
    if (step->src < 0 || step->src >= compiled->input_count)
        return false;
    return dml_tensor_span(&compiled->inputs[step->src], span);
}

static bool is_formula(const dml_compiled_step *step)
{
    return step->table >= 0 && step->src_item >= 4;
}

/* The bytes of a row of a step's table, or of a formula's constants. */
static int64_t row_bytes(const dml_compiled *compiled, const dml_compiled_step *step, int64_t item)
{
    const dml_formula *formula = (const void *)(compiled->constants + step->arithmetic);
    return is_formula(step) ? formula->row : item << 8 * step->src_item;
}

/* Whether the constants have the whole formula of a step that has one. */
static bool has_formula(const dml_compiled *compiled, const dml_compiled_step *step, int64_t item)
{
    const int64_t left = compiled->constant_bytes - step->arithmetic;
    return !is_formula(step) ||
           (step->arithmetic >= 0 && step->arithmetic % 16 == 0 &&
            dml_formula_is_whole((const void *)(compiled->constants + step->arithmetic), left, step->src_item, item));
}

/* Whether the constants have the rows of a step's table. */
static bool has_rows(const dml_compiled *compiled, const dml_compiled_step *step, const dml_span *rows, int64_t item)
{
    int64_t row = step->table < 0 ? 0 : row_bytes(compiled, step, item), left = compiled->constant_bytes - step->table;
    return step->table < 0 || (rows->begin >= 0 && row > 0 && left >= 0 && rows->end <= left / row);
}

/* Whether the constants have arithmetic for these rows, for each number of one byte; then the table must have all its rows. */
static bool has_arithmetic(const dml_compiled *compiled, const dml_compiled_step *step, dml_span *rows, int64_t item)
{
    const int64_t row = (int64_t)sizeof(float[DML_MOST_OPERATIONS]), size = (int64_t)sizeof(dml_arithmetic);
    if (step->arithmetic < 0 || is_formula(step))
        return true;
    if (step->table < 0 || step->src_item != 1 || (item != 2 && item != 4) || step->arithmetic % 16 != 0 ||
        step->arithmetic > compiled->constant_bytes - size)
        return false;
    const dml_arithmetic *arithmetic = (const void *)(compiled->constants + step->arithmetic);
    int64_t needed = rows->end, most = (compiled->constant_bytes - size - step->arithmetic) / row;
    rows->end = arithmetic->rows;
    return arithmetic->table == step->table && needed <= rows->end && rows->end <= most;
}

/* Whether a step that reads so many bytes further on stays within what it reads. */
static bool reads_within(const dml_compiled *compiled, const dml_compiled_step *step, int64_t further)
{
    dml_span source;
    const int64_t item = compiled->results[step->dst].item, begin = step->src_offset + further;
    dml_span read = {begin, begin + (step->table < 0 ? item : step->src_item)};
    if (!find_source(compiled, step, &source))
        return false;
    for (int64_t k = 0; k < step->axis_count; k++)
        if (!grow(&read, compiled->axes[step->first_axis + k].extent, compiled->axes[step->first_axis + k].src_stride))
            return false;
    return (read.begin >= source.begin && read.end <= source.end) || item == 0;
}

static bool is_within(const dml_compiled *compiled, const dml_compiled_step *step)
{
    if (step->dst < 0 || step->dst >= compiled->result_count || step->axis_count < 0 || step->axis_count > DML_MAX_AXES ||
        (step->table >= 0 && (step->src_item < 1 || step->src_item > 8 || (step->src_item & (step->src_item - 1)) != 0)) ||
        !reads_within(compiled, step, 0))
        return false;
    const dml_tensor *result = &compiled->results[step->dst];
    int64_t reach[DML_MAX_RANK] = {0};
    dml_span rows = {step->row, step->row + 1};
    for (int64_t k = 0; k < step->axis_count; k++) {
        const dml_compiled_axis *axis = &compiled->axes[step->first_axis + k];
        if (axis->dim < 0 || axis->dim >= result->rank || axis->first < 0 || axis->stride < 0 ||
            !grow(&rows, axis->extent, axis->row_stride))
            return false;
        int64_t *sum = &reach[axis->dim], left = result->shape[axis->dim] - 1 - *sum - axis->first;
        if (left < 0 || (axis->stride > 0 && axis->extent - 1 > left / axis->stride))
            return false;
        *sum += axis->first + (axis->extent - 1) * axis->stride;
    }
    return has_formula(compiled, step, result->item) && has_arithmetic(compiled, step, &rows, result->item) &&
           has_rows(compiled, step, &rows, result->item);
}

/* Whether two variants of a step write the same elements. */
static bool writes_same(const dml_compiled *compiled, const dml_compiled_step *one, const dml_compiled_step *other)
{
    bool same = one->dst == other->dst && one->axis_count == other->axis_count;
    for (int64_t k = 0; same && k < one->axis_count; k++) {
        const dml_compiled_axis *a = &compiled->axes[one->first_axis + k], *b = &compiled->axes[other->first_axis + k];
        same = a->dim == b->dim && a->first == b->first && a->extent == b->extent && a->stride == b->stride;
    }
    return same;
}

dml_code dml_compiled_check(const dml_compiled *compiled, dml_status *status)
{
    for (int64_t i = 0; i < compiled->count; i++)
        if (!is_within(compiled, &compiled->steps[i]))
            return dml_fail(status, DML_VALUE_ERROR, "step %lld of the program leaves its arrays", (long long)i);
    if (compiled->variants < 1 || compiled->count % compiled->variants != 0)
        return dml_fail(status, DML_VALUE_ERROR, "some step of the program lacks a variant");
    for (int64_t i = 0; i < compiled->count; i++)
        if (!writes_same(compiled, &compiled->steps[i - i % compiled->variants], &compiled->steps[i]))
            return dml_fail(status, DML_VALUE_ERROR, "step %lld of the program writes something else than its first variant",
                            (long long)i);
    return dml_coverage_check(compiled, status);
}

dml_code dml_compiled_check_selections(const dml_compiled *compiled, const dml_selection *selections, int64_t count,
                                       dml_status *status)
{
    if (count != compiled->count / compiled->variants)
        return dml_fail(status, DML_VALUE_ERROR, "expected %lld selections, got %lld",
                        (long long)(compiled->count / compiled->variants), (long long)count);
    const int64_t most = INT64_MAX / 4;
    for (int64_t i = 0; i < count; i++) {
        const dml_selection *one = &selections[i];
        if (one->variant < 0 || one->variant >= compiled->variants || one->offset < -most || one->offset > most ||
            !reads_within(compiled, &compiled->steps[i * compiled->variants + one->variant], one->offset))
            return dml_fail(status, DML_VALUE_ERROR, "selection %lld leaves the arrays of the program", (long long)i);
    }
    return DML_OK;
}

static void add_axis(dml_plan *plan, const dml_compiled_axis *axis, int64_t dst_stride)
{
    dml_plan_add(plan, axis->extent, axis->src_stride, dst_stride);
    plan->axes[plan->rank - 1].entry_stride = axis->row_stride * plan->entries.item;
}

static void make(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_compiled *compiled = program->other;
    const dml_selection selection = program->selections ? program->selections[index] : (dml_selection){0, 0};
    const dml_compiled_step *from = &compiled->steps[index * compiled->variants + selection.variant];
    const dml_tensor *result = &program->results[from->dst];
    step->src = from->src;
    step->dst = from->dst;
    step->plan.item = result->item;
    step->plan.src_offset = from->src_offset + selection.offset;
    if (from->table >= 0) {
        int64_t row = row_bytes(compiled, from, result->item);
        step->plan.src_item = from->src_item;
        step->plan.entries = (dml_entries){compiled->constants, .offset = from->table + from->row * row, .item = row};
        const void *computed = from->arithmetic < 0 ? NULL : compiled->constants + from->arithmetic;
        step->plan.formula = is_formula(from) ? computed : NULL;
        step->plan.arithmetic = is_formula(from) ? NULL : computed;
    }
    for (int64_t k = 0; k < from->axis_count; k++) {
        const dml_compiled_axis *axis = &compiled->axes[from->first_axis + k];
        int64_t stride = result->strides[axis->dim];
        step->plan.dst_offset += axis->first > 0 ? axis->first * stride : 0;
        if (axis->extent > 1)
            add_axis(&step->plan, axis, axis->stride * stride);
    }
}

void dml_compiled_describe(const dml_compiled *compiled, const dml_selection *selections, dml_program *program)
{
    program->make = make;
    program->count = compiled->count / compiled->variants;
    program->selections = selections;
    program->other = compiled;
    for (int64_t i = 0; i < compiled->count; i++) {
        const bool formula = is_formula(&compiled->steps[i]);
        program->formulas = program->formulas || formula;
        program->tables = program->tables || (!formula && compiled->steps[i].table >= 0);
        program->arithmetic = program->arithmetic || (!formula && compiled->steps[i].arithmetic >= 0);
    }
    for (int64_t k = 0; k < compiled->result_count; k++) {
        dml_tensor_copy_shape(&program->results[k], &compiled->results[k]);
        dml_tensor_pack(&program->results[k]);
    }
}
