#include "host/host_resize.h"

#include "base/cache.h"
#include "base/machine.h"
#include "base/parallel.h"
#include "host/host.h"
#include "host/host_band.h"
#include "plan/taps.h"

/* Products of a band; input rows of a band for each that the next one makes as well. */
enum { BAND = 1 << 22, ROWS_PER_TAP = 8 };

/* --- what bands share --------------------------------------------------------------------------------------------- */

/* The axis of a pixel's items: the one whose source stride is the smallest, if that is below the columns'. -1: none. */
static int items_axis(const dml_program *program)
{
    const dml_tensor *input = program->inputs;
    const int *axes = program->resize->axes;
    int found = -1;
    for (int k = 0; k < input->rank; k++) {
        const int64_t stride = dml_magnitude(input->strides[k]);
        if (k != axes[0] && k != axes[1] && input->shape[k] > 1 && stride < dml_magnitude(input->strides[axes[1]]) &&
            (found < 0 || stride < dml_magnitude(input->strides[found])))
            found = k;
    }
    return found;
}

/* All axes but rows, columns and items. */
static void find_images(const dml_program *program, int items, dml_plan *images)
{
    const dml_tensor *input = program->inputs, *result = program->results;
    const int *axes = program->resize->axes;
    dml_plan_begin(images, 1);
    for (int k = 0; k < input->rank; k++)
        if (k != axes[0] && k != axes[1] && k != items)
            dml_plan_add(images, input->shape[k], input->strides[k], result->strides[k]);
}

/* A row as a line: whether it is one, else the plan that copies it. */
static bool describe_row(const dml_tensor *tensor, int columns, int items, bool to_line, dml_plan *plan)
{
    const int64_t count = items < 0 ? 1 : tensor->shape[items], stride = items < 0 ? 1 : tensor->strides[items];
    if (tensor->strides[columns] == count && (count == 1 || stride == 1))
        return true;
    dml_plan_begin(plan, 1);
    dml_plan_add(plan, tensor->shape[columns], tensor->strides[columns], count);
    dml_plan_add(plan, count, stride, 1);
    if (!to_line)
        dml_plan_turn(plan);
    dml_plan_simplify(plan);
    return false;
}

/* The pixels of a row that the pass along columns reads for those of the result; where there is none, those themselves. */
static dml_span pixels_read(const dml_bands *bands)
{
    const int64_t begin = bands->begin[DML_COLUMNS_AXIS], end = bands->end[DML_COLUMNS_AXIS], last = bands->width - 1;
    const dml_weights *weights = bands->columns.weights;
    if (!weights)
        return (dml_span){begin, end};
    const int64_t first = dml_weights_row(weights, begin)[0], behind = dml_weights_row(weights, end - 1)[0] + weights->taps;
    return (dml_span){dml_clamp(first, 0, last), dml_clamp(behind, 1, bands->width)};
}

static void describe_pass(dml_bands *bands, int pass)
{
    const dml_resampling *resampling = bands->resampling;
    const bool last = pass + 1 == resampling->passes, by_columns = resampling->axes[pass] == DML_COLUMNS_AXIS;
    const dml_number number = pass == 0 ? DML_UINT8 : resampling->between;
    dml_lines_pass *one = by_columns ? &bands->columns : &bands->rows;
    one->weights = resampling->weights[pass];
    one->items = bands->items;
    one->from = dml_number_bytes(number);
    one->to = last ? 1 : dml_number_bytes(resampling->between);
    for (int k = 0; k < (last ? resampling->part_count : 1); k++) {
        dml_lines_pass *to = last ? &bands->parts[k] : one;
        *to = *one;
        to->summing = dml_summing_of(last ? &resampling->parts[k].sum : &resampling->first, number, to->to);
        dml_lines_choose(to, by_columns, last && by_columns && resampling->part_count > 1);
    }
    if (last)
        one->overreads = bands->parts[0].overreads;
}

/* Makes both passes one along rows, where they are means of blocks of 2 x 2 and there is a kernel for it. */
static bool describe_halves(dml_bands *bands)
{
    const dml_resampling *resampling = bands->resampling;
    const dml_sum *sum = &resampling->parts[0].sum;
    dml_lines_pass rows = {.items = bands->items, .from = 2, .to = 1};
    for (int pass = 0; pass < resampling->passes; pass++)
        if (resampling->axes[pass] == DML_ROWS_AXIS)
            rows.weights = resampling->weights[pass];
    if (resampling->between != DML_UINT16 || resampling->passes != 2 || sum->kind != DML_SUM_CLIP || sum->shift != 2 ||
        !dml_lines_choose_pairs(&rows))
        return false;
    bands->rows = bands->parts[0] = rows;
    return true;
}

static void describe(const dml_program *program, const char *src, int items, dml_bands *bands)
{
    const dml_resize *resize = program->resize;
    const dml_tensor *input = program->inputs, *result = program->results;
    dml_span span;
    *bands = (dml_bands){.resampling = resize->resampling};
    bands->items = items < 0 ? 1 : input->shape[items];
    bands->height = input->shape[resize->axes[0]];
    bands->width = input->shape[resize->axes[1]];
    for (int axis = 0; axis < 2; axis++) {
        bands->begin[axis] = resize->begin[axis];
        bands->end[axis] = resize->begin[axis] + result->shape[resize->axes[axis]];
    }
    const bool halves = describe_halves(bands);
    for (int pass = 0; !halves && pass < resize->resampling->passes; pass++)
        describe_pass(bands, pass);
    bands->columns_first = !halves && resize->resampling->passes > 1 && resize->resampling->axes[0] == DML_COLUMNS_AXIS;
    bands->skips = bands->rows.weights && bands->rows.weights->taps * bands->rows.weights->outputs < bands->height;
    bands->pixels = pixels_read(bands);
    bands->src_row = input->strides[resize->axes[0]];
    bands->dst_row = result->strides[resize->axes[0]];
    bands->src_lines = describe_row(input, resize->axes[1], items, true, &bands->src_line);
    bands->dst_lines = describe_row(result, resize->axes[1], items, false, &bands->dst_line);
    dml_tensor_span(input, &span);
    bands->readable = src + span.end;
}

/* --- chunks ------------------------------------------------------------------------------------------------------- */

/* A call's work: bands of images, one after the other. */
typedef struct resizing {
    dml_bands bands;
    dml_plan images; /* of a batch, as elements */
    const char *src;
    char *dst;
    int64_t rows, per_image; /* rows of a band; bands of an image */
    bool *failed;
} resizing;

static void run_band(const void *argument, int64_t index)
{
    const resizing *self = argument;
    const int64_t first = index % self->per_image * self->rows;
    int64_t src, dst;
    dml_plan_element(&self->images, index / self->per_image, &src, &dst);
    char *scratch = dml_cache_acquire((size_t)dml_band_scratch(&self->bands));
    if (!scratch) {
        DML_SET(self->failed);
        return;
    }
    const int64_t begin = self->bands.begin[DML_ROWS_AXIS] + first;
    const int64_t end = dml_smaller(begin + self->rows, self->bands.end[DML_ROWS_AXIS]);
    dml_band_run(&self->bands, self->src + src, self->dst + dst, scratch, begin, end);
    dml_cache_release(scratch);
}

/* Bands of several rows for each that two of them make, and of enough work; images that are small are one. */
static void choose_bands(resizing *self, double products)
{
    const dml_bands *bands = &self->bands;
    const int64_t rows = bands->end[DML_ROWS_AXIS] - bands->begin[DML_ROWS_AXIS];
    const int64_t images = dml_plan_count(&self->images);
    const double image = products / (double)images;
    int64_t most = 1;
    if (products >= (double)DML_RESIZE_PARALLEL && (images == 1 || image > (double)BAND))
        most = dml_larger((int64_t)(image / (double)BAND), images == 1 ? dml_parallel_threads(rows) : 1);
    if (bands->columns_first) {
        const double scale = (double)bands->height / (double)bands->rows.weights->outputs;
        const double least = (double)(ROWS_PER_TAP * bands->rows.weights->taps) / scale;
        most = dml_smaller(most, (int64_t)((double)rows / least));
    }
    self->rows = dml_ceil_div(rows, dml_larger(dml_smaller(most, rows), 1));
    self->rows = dml_smaller(dml_ceil_div(self->rows, DML_LINES) * DML_LINES, rows);
    self->per_image = dml_ceil_div(rows, self->rows);
}

static dml_code run_bands(const resizing *self, double products, dml_interrupt_poll *poll, dml_status *status)
{
    const int64_t count = dml_plan_count(&self->images) * self->per_image;
    const bool is_short = products < (double)DML_RESIZE_PARALLEL;
    for (int64_t index = 0; index < count && is_short; index++)
        run_band(self, index);
    if (!is_short && !dml_parallel(run_band, self, 0, count, poll))
        return dml_fail(status, DML_INTERRUPTED, "interrupted by a signal");
    return *self->failed ? dml_fail(status, DML_NO_MEMORY, "the host has no memory left to resize an array") : DML_OK;
}

/* Whether bands make the parts of the result: those that begin or end within a pixel, if the last pass is along rows, and what
 * lies behind a column are its items. */
static bool has_parts_of_bands(const dml_program *program, int items)
{
    const dml_tensor *result = program->results;
    const dml_resampling *resampling = program->resize->resampling;
    const int columns = program->resize->axes[DML_COLUMNS_AXIS];
    int64_t behind = 1;
    for (int k = columns + 1; k < result->rank; k++)
        behind *= result->shape[k];
    bool whole = true;
    for (int k = 0; k < resampling->part_count; k++)
        whole = whole && resampling->parts[k].begin[2] == 0 && resampling->parts[k].end[2] >= behind;
    return whole ||
           (resampling->axes[resampling->passes - 1] == DML_ROWS_AXIS && items > columns && result->shape[items] == behind);
}

/* The passes one after the other. */
static dml_code run_steps(const dml_program *program, const void *src, void *dst, dml_interrupt_poll *poll, dml_status *status)
{
    dml_tensor tensor = {.rank = 0};
    int64_t begin;
    void *between = NULL;
    if (program->resize->resampling->passes > 1) {
        dml_resize_between(program, &tensor, &begin);
        between = dml_cache_acquire((size_t)dml_tensor_extent(&tensor));
        if (!between)
            return dml_fail(status, DML_NO_MEMORY, "the host has no memory left to resize an array");
    }
    bool more = true;
    for (int64_t k = 0; k < program->count && more; k++) {
        dml_step step;
        dml_program_step(program, k, &step);
        more = dml_host_run(&step.plan, step.src == DML_BETWEEN ? between : src, step.dst == DML_BETWEEN ? between : dst, poll);
    }
    dml_cache_release(between);
    return more ? DML_OK : dml_fail(status, DML_INTERRUPTED, "interrupted by a signal");
}

dml_code dml_host_resize(const dml_program *program, const void *src, void *dst, dml_interrupt_poll *poll, dml_status *status)
{
    const dml_resize *resize = program->resize;
    const int items = items_axis(program);
    const double products = dml_resize_products(program);
    bool failed = false;
    resizing self; /* of which plans, kilobytes, are not cleared */
    if (dml_tensor_is_empty(program->results))
        return DML_OK;
    if (!has_parts_of_bands(program, items))
        return run_steps(program, src, dst, poll, status);
    self.failed = &failed;
    self.src = (const char *)src + resize->src_offset;
    self.dst = (char *)dst + resize->dst_offset;
    find_images(program, items, &self.images);
    describe(program, self.src, items, &self.bands);
    choose_bands(&self, products);
    return run_bands(&self, products, poll, status);
}
