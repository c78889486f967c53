#include "core/host_lines.h"

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

/* Bytes to bytes, of pixels that have no more items than DML_LINES: sums stay in registers. */
DML_INLINE void clip_line(const dml_lines_pass *pass, const unsigned char *in, char *out, int64_t begin, int64_t end,
                          const int items)
{
    const int64_t taps = pass->weights->taps;
    const int32_t shift = pass->summing.sum->shift;
    for (int64_t x = begin; x < end; x++, out += items) {
        const int32_t *row = dml_weights_row(pass->weights, x);
        const unsigned char *pixel = in + row[0] * items;
        uint32_t sums[DML_LINES];
        for (int i = 0; i < items; i++)
            sums[i] = UINT32_C(1) << shift >> 1;
        for (int64_t t = 1; t <= taps; t++, pixel += items)
            for (int i = 0; i < items; i++)
                sums[i] += (uint32_t)row[t] * pixel[i];
        for (int i = 0; i < items; i++) {
            const int32_t value = (int32_t)sums[i] >> shift;
            out[i] = (char)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

static void any_line(const dml_lines_pass *pass, const char *in, char *out, int64_t begin, int64_t end)
{
    const dml_weights *weights = pass->weights;
    const int64_t pixel = pass->items * pass->from;
    const dml_sum_inputs inputs = {in, pixel, 0, weights->inputs - 1, -1};
    for (int64_t x = begin; x < end; x++, out += pass->items * pass->to)
        dml_sum_run(&pass->summing, &inputs, pass->from, dml_weights_row(weights, x), weights->taps, out, pass->to,
                    pass->items);
}

static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    const bool clips = pass->summing.sum->kind == DML_SUM_CLIP && pass->from == 1 && pass->weights->inside;
    for (int k = 0; k < DML_LINES; k++) {
        const unsigned char *bytes = (const unsigned char *)in[k];
        if (k > 0 && out[k] == out[k - 1])
            continue;
        if (clips && pass->items == 1)
            clip_line(pass, bytes, out[k], begin, end, 1);
        else if (clips && pass->items == 2)
            clip_line(pass, bytes, out[k], begin, end, 2);
        else if (clips && pass->items == 3)
            clip_line(pass, bytes, out[k], begin, end, 3);
        else if (clips && pass->items == 4)
            clip_line(pass, bytes, out[k], begin, end, 4);
        else
            any_line(pass, in[k], out[k], begin, end);
    }
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    dml_sum_run(&pass->summing, in, pass->from, dml_weights_row(pass->weights, output), pass->weights->taps, out, pass->to,
                count);
}

const dml_lines_kernel dml_lines_plain = {"plain", always, choose, choose, columns, rows};
