#include "host/host_sums.h"

#include <string.h>

#include "base/compiler.h"
#include "plan/odometer.h"

/* --- taps --------------------------------------------------------------------------------------------------------- */

/* How products are added. */
enum { INTEGERS, SHIFTED, FLOATS, BACKWARDS };

DML_INLINE int32_t read_integer(const char *src, const dml_number number)
{
    uint16_t half;
    int32_t word;
    if (number == DML_UINT8)
        return (unsigned char)*src;
    if (number == DML_UINT16) {
        memcpy(&half, src, sizeof half);
        return half;
    }
    memcpy(&word, src, sizeof word);
    return word;
}

DML_INLINE float read_float(const char *src, const dml_number number)
{
    float value;
    if (number != DML_FLOAT32)
        return (float)read_integer(src, number);
    memcpy(&value, src, sizeof value);
    return value;
}

/* Products of floats are values of their own: none is fused with a sum. */
DML_INLINE void add_tap(dml_sums *sums, int64_t count, const char *src, const int64_t stride, int32_t weight, int32_t shift,
                        const int how, const dml_number number)
{
    float factor;
    memcpy(&factor, &weight, sizeof factor);
    if (how == BACKWARDS)
        factor = (float)weight / (float)(1 << shift);
    for (int64_t i = 0; i < count; i++, src += stride) {
        if (how == INTEGERS)
            sums->integers[i] += (uint32_t)weight * (uint32_t)read_integer(src, number);
        if (how == SHIFTED)
            sums->integers[i] += (uint32_t)((int32_t)((uint32_t)weight * (uint32_t)read_integer(src, number)) >> shift);
        if (how == FLOATS || how == BACKWARDS) {
            const float product = factor * read_float(src, number);
            sums->floats[i] = sums->floats[i] + product;
        }
    }
}

DML_INLINE void add(dml_sums *sums, int64_t count, const char *const *inputs, int64_t stride, const int32_t *weights,
                    int64_t taps, int32_t shift, const int how, const dml_number number, const int64_t bytes)
{
    for (int64_t t = 0; t < taps; t++) {
        const int64_t tap = how == BACKWARDS ? taps - 1 - t : t;
        if (stride == bytes)
            add_tap(sums, count, inputs[tap], bytes, weights[tap], shift, how, number);
        else
            add_tap(sums, count, inputs[tap], stride, weights[tap], shift, how, number);
    }
}

#define ADD(how, number, bytes)                                                                                                \
    static void add_##how##_##number(dml_sums *sums, int64_t count, const char *const *inputs, int64_t stride,                 \
                                     const int32_t *weights, int64_t taps, int32_t shift)                                      \
    {                                                                                                                          \
        add(sums, count, inputs, stride, weights, taps, shift, how, number, bytes);                                            \
    }
#define NUMBERS(X, how) X(how, DML_UINT8, 1) X(how, DML_UINT16, 2) X(how, DML_INT32, 4)
NUMBERS(ADD, INTEGERS)
NUMBERS(ADD, SHIFTED)
NUMBERS(ADD, FLOATS)
ADD(FLOATS, DML_FLOAT32, 4)
NUMBERS(ADD, BACKWARDS)

/* --- what sums become --------------------------------------------------------------------------------------------- */

/* To nearest even, by the one place that 23 more bits leave. */
DML_INLINE int32_t round_clipped(float value)
{
    const float whole = (float)(1 << 23);
    if (value < 0)
        return 0;
    return value > 255 ? 255 : (int32_t)(value + whole - whole);
}

DML_INLINE int32_t become(const dml_sums *sums, int64_t i, const dml_sum *sum, const dml_sum_kind kind)
{
    const uint32_t integer = sums->integers[i];
    switch (kind) {
    case DML_SUM_CLIP:
        return dml_sum_clip((int32_t)(integer + (UINT32_C(1) << sum->shift >> 1)) >> sum->shift);
    case DML_SUM_SHIFT:
        return (int32_t)integer >> sum->shift;
    case DML_SUM_FLOORS:
        return (int32_t)(integer + 2) >> 2;
    case DML_SUM_ROUND:
    case DML_SUM_CUBIC:
        return round_clipped(sums->floats[i]);
    case DML_SUM_TIMES:
        return round_clipped((float)(int32_t)integer * sum->factor);
    case DML_SUM_OVER:
        return round_clipped((float)(int32_t)integer / sum->factor);
    default:
        return (int32_t)((integer + sum->half) * sum->multiplier >> 24);
    }
}

DML_INLINE void write(const dml_sums *sums, int64_t count, char *dst, int64_t stride, const dml_sum *sum,
                      const dml_sum_kind kind, const int64_t item)
{
    for (int64_t i = 0; i < count; i++, dst += stride) {
        const uint32_t value = kind == DML_SUM_FLOAT ? sums->integers[i] : (uint32_t)become(sums, i, sum, kind);
        const uint16_t half = (uint16_t)value;
        if (item == 1)
            *dst = (char)value;
        else if (item == 2)
            memcpy(dst, &half, sizeof half);
        else
            memcpy(dst, &value, sizeof value);
    }
}

#define WRITE(kind, item)                                                                                                      \
    static void write_##kind##_##item(const dml_sums *sums, int64_t count, char *dst, int64_t stride, const dml_sum *sum)      \
    {                                                                                                                          \
        if (stride == (item))                                                                                                  \
            write(sums, count, dst, item, sum, kind, item);                                                                    \
        else                                                                                                                   \
            write(sums, count, dst, stride, sum, kind, item);                                                                  \
    }
WRITE(DML_SUM_CLIP, 1)
WRITE(DML_SUM_SHIFT, 2)
WRITE(DML_SUM_SHIFT, 4)
WRITE(DML_SUM_FLOORS, 1)
WRITE(DML_SUM_FLOAT, 4)
WRITE(DML_SUM_ROUND, 1)
WRITE(DML_SUM_TIMES, 1)
WRITE(DML_SUM_OVER, 1)
WRITE(DML_SUM_REDUCE, 1)

dml_summing dml_summing_of(const dml_sum *sum, dml_number number, int64_t item)
{
    static dml_sums_adder *const adders[][4] = {
        [INTEGERS] = {add_INTEGERS_DML_UINT8, add_INTEGERS_DML_UINT16, add_INTEGERS_DML_INT32},
        [SHIFTED] = {add_SHIFTED_DML_UINT8, add_SHIFTED_DML_UINT16, add_SHIFTED_DML_INT32},
        [FLOATS] = {add_FLOATS_DML_UINT8, add_FLOATS_DML_UINT16, add_FLOATS_DML_INT32, add_FLOATS_DML_FLOAT32},
        [BACKWARDS] = {add_BACKWARDS_DML_UINT8, add_BACKWARDS_DML_UINT16, add_BACKWARDS_DML_INT32},
    };
    static const struct {
        int how;
        dml_sums_writer *write;
    } kinds[] = {
        [DML_SUM_CLIP] = {INTEGERS, write_DML_SUM_CLIP_1},     [DML_SUM_SHIFT] = {INTEGERS, write_DML_SUM_SHIFT_4},
        [DML_SUM_FLOORS] = {SHIFTED, write_DML_SUM_FLOORS_1},  [DML_SUM_FLOAT] = {FLOATS, write_DML_SUM_FLOAT_4},
        [DML_SUM_ROUND] = {FLOATS, write_DML_SUM_ROUND_1},     [DML_SUM_CUBIC] = {BACKWARDS, write_DML_SUM_ROUND_1},
        [DML_SUM_TIMES] = {INTEGERS, write_DML_SUM_TIMES_1},   [DML_SUM_OVER] = {INTEGERS, write_DML_SUM_OVER_1},
        [DML_SUM_REDUCE] = {INTEGERS, write_DML_SUM_REDUCE_1},
    };
    const int how = kinds[sum->kind].how;
    dml_sums_writer *writer = kinds[sum->kind].write;
    return (dml_summing){sum, adders[how][number], sum->kind == DML_SUM_SHIFT && item == 2 ? write_DML_SUM_SHIFT_2 : writer,
                         how == BACKWARDS};
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Adds all taps to a block of elements, of which the first is `at` bytes behind its inputs. */
static void add_taps(const dml_summing *summing, const dml_sum_inputs *inputs, int64_t at, int64_t from, const int32_t *row,
                     int64_t taps, dml_sums *sums, int64_t count)
{
    const char *block[DML_SUMS_TAPS];
    for (int64_t done = 0; done < taps; done += DML_SUMS_TAPS) {
        const int64_t some = dml_smaller(taps - done, DML_SUMS_TAPS);
        const int64_t first = summing->backwards ? taps - done - some : done;
        for (int64_t i = 0; i < some; i++) {
            const int64_t index = dml_clamp(row[0] + first + i, inputs->low, inputs->high);
            block[i] = inputs->base + (index & inputs->mask) * inputs->stride + at;
        }
        summing->add(sums, count, block, from, row + 1 + first, some, summing->sum->shift);
    }
}

void dml_sum_run(const dml_summing *summing, const dml_sum_inputs *inputs, int64_t from, const int32_t *row, int64_t taps,
                 char *dst, int64_t to, int64_t count)
{
    dml_sums sums;
    for (int64_t done = 0; done < count; done += DML_SUMS_BLOCK) {
        const int64_t elements = dml_smaller(count - done, DML_SUMS_BLOCK);
        memset(sums.integers, 0, (size_t)elements * sizeof sums.integers[0]);
        add_taps(summing, inputs, done * from, from, row, taps, &sums, elements);
        summing->write(&sums, elements, dst + done * to, to, summing->sum);
    }
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

void dml_host_run_sums(const dml_plan *plan, const char *src, char *dst)
{
    const dml_summing summing = dml_summing_of(&plan->sum, plan->taps.number, plan->item);
    const dml_taps *taps = &plan->taps;
    const dml_axis one = {1, 0, 0, 0};
    int inner = -1; /* the axis of the elements that share weights */
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].entry_stride == 0 && (inner < 0 || plan->axes[k].extent >= dml_smaller(plan->axes[inner].extent, 16)))
            inner = k;
    const dml_axis *axis = inner < 0 ? &one : &plan->axes[inner];
    dml_odometer at;
    dml_odometer_begin(&at, plan);
    for (int k = 0; k < plan->rank; k++)
        if (k != inner)
            dml_odometer_add(&at, k);
    do {
        const char *base = src + at.src - taps->begin * taps->stride;
        const dml_sum_inputs inputs = {base, taps->stride, taps->begin, taps->begin + taps->inputs - 1, -1};
        const void *row = (const char *)plan->entries.data + at.entry;
        dml_sum_run(&summing, &inputs, axis->src_stride, row, taps->count, dst + at.dst, axis->dst_stride, axis->extent);
    } while (dml_odometer_next(&at));
}
