#include "host/host_lines.h"

#include <string.h>

#include "base/compiler.h"

static bool always(void)
{
    return true;
}

static bool choose(dml_lines_pass *pass)
{
    pass->kernel = &dml_lines_plain;
    return true;
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

/* Of bytes, and pixels that have no more items than DML_LINES: sums stay in registers. */
DML_INLINE void sum_pixel(const dml_lines_pass *pass, const unsigned char *pixel, const int32_t *weights, uint32_t *sums,
                          const int64_t items)
{
    for (int64_t i = 0; i < items; i++)
        sums[i] = 0;
    for (int64_t t = 0; t < pass->weights->taps; t++, pixel += items)
        for (int64_t i = 0; i < items; i++)
            sums[i] += (uint32_t)weights[t] * pixel[i];
}

DML_INLINE void sum_pixel_of_floats(const dml_lines_pass *pass, const unsigned char *pixel, const int32_t *weights, float *sums,
                                    const int64_t items)
{
    for (int64_t i = 0; i < items; i++)
        sums[i] = 0;
    for (int64_t t = 0; t < pass->weights->taps; t++, pixel += items) {
        float weight;
        memcpy(&weight, &weights[t], sizeof weight);
        for (int64_t i = 0; i < items; i++) {
            const float product = weight * (float)pixel[i];
            sums[i] = sums[i] + product;
        }
    }
}

DML_INLINE void few_items(const dml_lines_pass *pass, const char *in, char *out, int64_t begin, int64_t end,
                          const int64_t items, const dml_sum_kind kind)
{
    const int32_t shift = pass->summing.sum->shift;
    for (int64_t x = begin; x < end; x++, out += items * pass->to) {
        const int32_t *row = dml_weights_row(pass->weights, x);
        const unsigned char *pixel = (const unsigned char *)in + items * row[0];
        uint32_t sums[DML_LINES];
        float floats[DML_LINES];
        if (kind == DML_SUM_FLOAT) {
            sum_pixel_of_floats(pass, pixel, row + 1, floats, items);
            memcpy(out, floats, (size_t)items * sizeof *floats);
            continue;
        }
        sum_pixel(pass, pixel, row + 1, sums, items);
        for (int64_t i = 0; i < items; i++) {
            const int32_t value = (int32_t)(sums[i] + (kind == DML_SUM_CLIP ? UINT32_C(1) << shift >> 1 : 0)) >> shift;
            const uint16_t word = (uint16_t)value;
            if (kind == DML_SUM_CLIP)
                out[i] = (char)dml_sum_clip(value);
            else if (pass->to == 2)
                memcpy(out + 2 * i, &word, sizeof word);
            else
                memcpy(out + 4 * i, &value, sizeof value);
        }
    }
}

#define FEW(items, kind)                                                                                                       \
    static void kind##_##items(const dml_lines_pass *pass, const char *in, char *out, int64_t begin, int64_t end)              \
    {                                                                                                                          \
        few_items(pass, in, out, begin, end, items, kind);                                                                     \
    }
#define KINDS(X, items) X(items, DML_SUM_CLIP) X(items, DML_SUM_SHIFT) X(items, DML_SUM_FLOAT)
KINDS(FEW, 1)
KINDS(FEW, 2)
KINDS(FEW, 3)
KINDS(FEW, 4)

static void any_line(const dml_lines_pass *pass, const char *in, char *out, int64_t begin, int64_t end)
{
    const dml_weights *weights = pass->weights;
    const int64_t pixel = pass->items * pass->from;
    const dml_sum_inputs inputs = {in, pixel, 0, weights->inputs - 1, -1};
    for (int64_t x = begin; x < end; x++, out += pass->items * pass->to)
        dml_sum_run(&pass->summing, &inputs, pass->from, dml_weights_row(weights, x), weights->taps, out, pass->to,
                    pass->items);
}

typedef void line_kernel(const dml_lines_pass *pass, const char *in, char *out, int64_t begin, int64_t end);

static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
#define KERNEL(items, kind) [kind] = kind##_##items,
    static line_kernel *const few[DML_LINES][DML_SUM_FLOAT + 1] = {
        {KINDS(KERNEL, 1)}, {KINDS(KERNEL, 2)}, {KINDS(KERNEL, 3)}, {KINDS(KERNEL, 4)}};
    const dml_sum_kind kind = pass->summing.sum->kind;
    const bool fits = pass->items <= DML_LINES && kind <= DML_SUM_FLOAT && pass->from == 1 && pass->weights->inside;
    line_kernel *kernel = fits ? few[pass->items - 1][kind] : NULL;
    for (int k = 0; k < DML_LINES; k++)
        if (k == 0 || out[k] != out[k - 1])
            (kernel ? kernel : any_line)(pass, in[k], out[k], begin, end);
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    dml_sum_run(&pass->summing, in, pass->from, dml_weights_row(pass->weights, output), pass->weights->taps, out, pass->to,
                count);
}

const dml_lines_kernel dml_lines_plain = {
    .name = "plain", .is_supported = always, .choose_columns = choose, .choose_rows = choose, .columns = columns, .rows = rows};
