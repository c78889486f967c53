#include "host/host_band.h"

#include <string.h>

#include "host/host_kernel.h"

enum { PAGE = 4096, LINE_ALIGNMENT = 64 };

typedef struct band {
    const dml_bands *bands;
    const char *src;
    char *dst;
    int64_t begin;                   /* the first row of the result */
    char *inputs[DML_LINES];         /* lines that are copied from the input, from pixel 0 on, */
    char *between[DML_LINES];        /* that a pass along rows makes for one along columns, likewise, */
    char *results[DML_LINES];        /* and of the result, from its first column on */
    char *ring;                      /* lines that the pass along rows reads: of the input, from pixel 0 on, or those */
    int64_t ring_line, mask, filled; /* that the pass along columns makes; row y is line y & mask, if below `filled` */
} band;

/* --- scratch ------------------------------------------------------------------------------------------------------ */

static int64_t line_bytes(int64_t pixels, int64_t pixel)
{
    return dml_ceil_div(pixels * pixel + (int64_t)2 * DML_LINE_PAD, LINE_ALIGNMENT) * LINE_ALIGNMENT;
}

static bool has_ring(const dml_bands *bands)
{
    return bands->rows.weights && (bands->columns_first || !bands->src_lines);
}

static int64_t ring_lines(const dml_bands *bands)
{
    const int64_t least = (int64_t)2 * DML_LINES;
    int64_t lines = least;
    while (has_ring(bands) && lines < bands->rows.weights->taps + least)
        lines *= 2;
    return has_ring(bands) ? lines : 0;
}

static int64_t ring_line(const dml_bands *bands)
{
    const int64_t made = bands->end[DML_COLUMNS_AXIS] - bands->begin[DML_COLUMNS_AXIS];
    return bands->columns_first ? line_bytes(made, bands->items * bands->rows.from) : line_bytes(bands->width, bands->items);
}

/* Of an input line, of one between the passes, and of one of the result. */
static void find_lines(const dml_bands *bands, int64_t bytes[3])
{
    const int64_t between = bands->columns_first || !bands->columns.weights ? 1 : bands->columns.from;
    bytes[0] = line_bytes(bands->width, bands->items);
    bytes[1] = line_bytes(bands->width, bands->items * between);
    bytes[2] = line_bytes(bands->end[DML_COLUMNS_AXIS] - bands->begin[DML_COLUMNS_AXIS], bands->items);
}

int64_t dml_band_scratch(const dml_bands *bands)
{
    int64_t lines[3];
    find_lines(bands, lines);
    return DML_LINES * (lines[0] + lines[1] + lines[2]) + ring_lines(bands) * ring_line(bands) + LINE_ALIGNMENT;
}

static char *take(char **scratch, int64_t bytes)
{
    char *taken = *scratch + DML_LINE_PAD;
    *scratch += bytes;
    return taken;
}

static void begin_band(band *band, char *scratch)
{
    int64_t lines[3];
    find_lines(band->bands, lines);
    scratch += -(uintptr_t)scratch % LINE_ALIGNMENT;
    for (int k = 0; k < DML_LINES; k++) { /* what is read behind them has a weight of 0, and some value */
        band->inputs[k] = take(&scratch, lines[0]);
        band->between[k] = take(&scratch, lines[1]);
        band->results[k] = take(&scratch, lines[2]);
        memset(scratch - lines[2] - DML_LINE_PAD, 0, DML_LINE_PAD);
        memset(scratch - lines[2] - lines[1] - DML_LINE_PAD, 0, DML_LINE_PAD);
    }
    band->ring = scratch + DML_LINE_PAD;
    band->ring_line = ring_line(band->bands);
    band->mask = ring_lines(band->bands) - 1;
}

/* --- lines of the input ------------------------------------------------------------------------------------------- */

/* Whether a kernel may read behind a line: where more of the input follows on the same page. */
static bool is_padded(const dml_bands *bands, const char *line)
{
    const uintptr_t last = (uintptr_t)line + (uintptr_t)(bands->width * bands->items) - 1, pad = last + DML_LINE_PAD;
    return pad < (uintptr_t)bands->readable && last / PAGE == pad / PAGE;
}

/* A row of the input as a line, `to` if it has to be copied. */
static const char *input_line(const band *band, int64_t y, char *to)
{
    const dml_bands *bands = band->bands;
    const char *row = band->src + y * bands->src_row;
    if (!bands->src_lines)
        dml_host_run_plain(&bands->src_line, row, to);
    else if (bands->columns.overreads && !is_padded(bands, row))
        memcpy(to, row, (size_t)(bands->width * bands->items));
    else
        return row;
    return to;
}

/* Runs the pass along columns; lines behind `count` repeat the last. `out` has column bands->begin first. */
static void run_columns(const dml_bands *bands, const dml_lines_pass *pass, const char **in, char **out, int count)
{
    for (int k = count; k < DML_LINES; k++) {
        in[k] = in[count - 1];
        out[k] = out[count - 1];
    }
    pass->kernel->columns(pass, in, out, bands->begin[DML_COLUMNS_AXIS], bands->end[DML_COLUMNS_AXIS]);
}

/* Fills the ring up to a row of the input. */
static void fill_ring(band *band, int64_t end)
{
    const dml_bands *bands = band->bands;
    while (band->filled < end) {
        const char *in[DML_LINES];
        char *out[DML_LINES];
        const int count = (int)dml_smaller(DML_LINES, (bands->skips ? end : bands->height) - band->filled);
        for (int k = 0; k < count; k++) {
            const int64_t y = band->filled + k;
            out[k] = band->ring + (y & band->mask) * band->ring_line;
            if (bands->columns_first)
                in[k] = input_line(band, y, band->inputs[k]);
            else
                dml_host_run_plain(&bands->src_line, band->src + y * bands->src_row, out[k]);
        }
        if (bands->columns_first)
            run_columns(bands, &bands->columns, in, out, count);
        band->filled += count;
    }
}

/* --- lines of the result ------------------------------------------------------------------------------------------ */

/* Where the pass along rows finds its inputs for row y; those are made, if it reads a ring. Of pixel 0 of its lines. */
static dml_sum_inputs rows_inputs(band *band, int64_t y)
{
    const dml_bands *bands = band->bands;
    const int64_t last = bands->height - 1;
    if (!has_ring(bands))
        return (dml_sum_inputs){band->src, bands->src_row, 0, last, -1};
    const int32_t first = dml_weights_row(bands->rows.weights, y)[0];
    const int64_t low = dml_clamp(first, 0, last);
    band->filled = dml_larger(band->filled, low);
    fill_ring(band, dml_clamp(first + bands->rows.weights->taps, 1, bands->height));
    return (dml_sum_inputs){band->ring, band->ring_line, 0, last, band->mask};
}

/* Of a row of the result, the items that a part has, counted from its first column on. */
static dml_span part_items(const dml_bands *bands, const dml_resampled_part *part, int64_t y)
{
    const int64_t begin = bands->begin[DML_COLUMNS_AXIS], end = bands->end[DML_COLUMNS_AXIS];
    if (y < part->begin[0] || y >= part->end[0])
        return (dml_span){0, 0};
    const int64_t from = dml_larger(part->begin[1], begin), to = dml_smaller(part->end[1], end);
    if (from >= to)
        return (dml_span){0, 0};
    return (dml_span){(from - begin) * bands->items + dml_smaller(part->begin[2], bands->items),
                      (to - 1 - begin) * bands->items + dml_smaller(part->end[2], bands->items)};
}

/* By the pass along rows as the last one, to the result. */
static void end_by_rows(band *band, int64_t y, char *line)
{
    const dml_bands *bands = band->bands;
    const dml_sum_inputs inputs = rows_inputs(band, y);
    const int64_t skipped = bands->columns_first ? 0 : bands->begin[DML_COLUMNS_AXIS] * bands->items * bands->rows.from;
    for (int k = 0; k < bands->resampling->part_count; k++) {
        const dml_lines_pass *pass = &bands->parts[k];
        const dml_span items = part_items(bands, &bands->resampling->parts[k], y);
        dml_sum_inputs part = inputs;
        part.base += skipped + items.begin * pass->from;
        if (items.begin < items.end)
            pass->kernel->rows(pass, &part, y, line + items.begin, items.end - items.begin);
    }
}

/* By the pass along rows as the first one: the pixels that the one along columns reads. */
static const char *begin_by_rows(band *band, int64_t y, char *line)
{
    const dml_bands *bands = band->bands;
    dml_sum_inputs inputs = rows_inputs(band, y);
    const int64_t pixel = bands->items * bands->rows.from, made = bands->items * bands->rows.to;
    inputs.base += bands->pixels.begin * pixel;
    bands->rows.kernel->rows(&bands->rows, &inputs, y, line + bands->pixels.begin * made,
                             (bands->pixels.end - bands->pixels.begin) * bands->items);
    return line;
}

/* By the pass along columns as the last one. No part begins or ends between these rows, or within a column. */
static void end_by_columns(band *band, int64_t y, int count)
{
    const dml_bands *bands = band->bands;
    const char *in[DML_LINES];
    for (int k = 0; k < count; k++)
        in[k] = bands->rows.weights ? begin_by_rows(band, y + k, band->between[k]) : input_line(band, y + k, band->inputs[k]);
    for (int k = 0; k < bands->resampling->part_count; k++) {
        const dml_span items = part_items(bands, &bands->resampling->parts[k], y);
        dml_bands part = *bands;
        char *out[DML_LINES];
        if (items.begin >= items.end)
            continue;
        part.end[DML_COLUMNS_AXIS] = part.begin[DML_COLUMNS_AXIS] + items.end / bands->items;
        part.begin[DML_COLUMNS_AXIS] += items.begin / bands->items;
        for (int r = 0; r < count; r++)
            out[r] = band->results[r] + items.begin;
        run_columns(&part, &bands->parts[k], in, out, count);
    }
}

/* How many rows from y on the last pass makes at once. */
static int rows_at_once(const band *band, int64_t y, int64_t end)
{
    int64_t next = dml_smaller(end, y + DML_LINES);
    for (int k = 0; k < band->bands->resampling->part_count; k++) {
        const dml_resampled_part *part = &band->bands->resampling->parts[k];
        next = part->begin[0] > y ? dml_smaller(next, part->begin[0]) : next;
        next = part->end[0] > y ? dml_smaller(next, part->end[0]) : next;
    }
    return (int)(next - y);
}

void dml_band_run(const dml_bands *bands, const char *src, char *dst, char *scratch, int64_t begin, int64_t end)
{
    band band = {.bands = bands, .src = src, .dst = dst};
    const bool by_columns = bands->columns.weights && !bands->columns_first;
    const int64_t bytes = (bands->end[DML_COLUMNS_AXIS] - bands->begin[DML_COLUMNS_AXIS]) * bands->items;
    begin_band(&band, scratch);
    for (int64_t y = begin; y < end;) {
        const int count = by_columns ? rows_at_once(&band, y, end) : 1;
        if (by_columns)
            end_by_columns(&band, y, count);
        for (int k = 0; k < count; k++, y++) {
            char *row = dst + (y - bands->begin[DML_ROWS_AXIS]) * bands->dst_row;
            char *line = by_columns || !bands->dst_lines ? band.results[k] : row;
            if (!by_columns)
                end_by_rows(&band, y, line);
            if (!bands->dst_lines)
                dml_host_run_plain(&bands->dst_line, line, row);
            else if (by_columns)
                memcpy(row, line, (size_t)bytes);
        }
    }
}
