/* NEON with dot products. A weight is three signed digits of 8 bits; an instruction adds 4 products of a digit and a signed
 * byte to each sum. Bytes are taken as 128 less: what that misses is 128 times the weights, which is added in the end. */
#include "host/host_lanes.h"

#ifdef DML_LINES_NEON

#include <arm_neon.h>
#include <string.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#include "base/compiler.h"

#ifdef __clang__
#define TARGET __attribute__((target("dotprod")))
#else
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define INLINE static inline TARGET __attribute__((always_inline))

enum { LANES = 1, DIGITS = 3, VECTOR = 16, ENCODED = DIGITS * DML_LANE, LEFT_OUT = 128, HAS_DOT_PRODUCTS = 1 << 20 };

static bool is_supported(void)
{
#if defined(__ARM_FEATURE_DOTPROD)
    return true;
#elif defined(__linux__)
    return getauxval(AT_HWCAP) & HAS_DOT_PRODUCTS;
#else
    return false;
#endif
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/* Each digit is between -128 and 127: the next one has what it is too small for. */
static void encode(const int32_t *weights, uint32_t *words)
{
    words[0] = words[1] = words[2] = 0;
    for (int tap = 0; tap < 4; tap++) {
        words[0] |= (uint32_t)(uint8_t)weights[tap] << 8 * tap;
        words[1] |= (uint32_t)(uint8_t)((weights[tap] + 0x80) >> 8) << 8 * tap;
        words[2] |= (uint32_t)(uint8_t)((weights[tap] + 0x8080) >> 16) << 8 * tap;
    }
}

static void *pack(const dml_weights *weights, int64_t items)
{
    return dml_lanes_make(weights, items, LANES, DIGITS, encode);
}

static void *pack_rows(const dml_weights *weights, int64_t items)
{
    (void)items;
    return dml_row_taps_make(weights, 4, DIGITS, encode);
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

typedef struct sums {
    int32x4_t low, middle, high;
} sums;

INLINE sums no_sums(void)
{
    return (sums){vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
}

INLINE void add(sums *sums, int8x16_t bytes, const int8x16_t digits[DIGITS])
{
    sums->low = vdotq_s32(sums->low, bytes, digits[0]);
    sums->middle = vdotq_s32(sums->middle, bytes, digits[1]);
    sums->high = vdotq_s32(sums->high, bytes, digits[2]);
}

INLINE int32x4_t total(const sums *sums)
{
    const int32x4_t upper = vaddq_s32(sums->middle, vshlq_n_s32(sums->high, 8));
    return vaddq_s32(sums->low, vshlq_n_s32(upper, 8));
}

INLINE int8x16_t less_128(uint8x16_t bytes)
{
    return vreinterpretq_s8_u8(veorq_u8(bytes, vdupq_n_u8(LEFT_OUT)));
}

INLINE uint8x8_t clipped(int32x4_t a, int32x4_t b, int32x4_t down)
{
    return vqmovun_s16(vcombine_s16(vqmovn_s32(vshlq_s32(a, down)), vqmovn_s32(vshlq_s32(b, down))));
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

/* The sums of a line, of one output where lanes are wide: then those of an item are added. */
INLINE void store(int32x4_t sums, char *out, int32x4_t half, int32x4_t down, const int items, const bool wide)
{
    if (wide)
        sums = vaddq_s32(sums, vextq_s32(sums, sums, 2));
    if (wide && items == 1)
        sums = vaddq_s32(sums, vextq_s32(sums, sums, 1));
    const uint8x8_t bytes = clipped(vaddq_s32(sums, half), half, down);
    const uint32_t word = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    memcpy(out, &word, sizeof word); /* what lies behind is overwritten by the next block */
}

INLINE void run_columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                        const int items, const bool wide)
{
    const dml_lanes *lanes = pass->packed;
    const int64_t outputs = lanes->outputs;
    const int32x4_t down = vdupq_n_s32(-pass->summing.sum->shift);
    const int32x4_t half = vdupq_n_s32((int32_t)(UINT32_C(1) << pass->summing.sum->shift >> 1));
    for (int64_t block = begin / outputs; block * outputs < end; block++) {
        const uint8x16_t control = vld1q_u8(lanes->controls + DML_LANE * block);
        const int8_t *weights = (const void *)(lanes->weights + (int64_t)lanes->groups[block] * ENCODED);
        int64_t at = lanes->positions[block];
        sums all[DML_LINES] = {no_sums(), no_sums(), no_sums(), no_sums()}, missed = no_sums();
        for (int32_t group = lanes->groups[block]; group < lanes->groups[block + 1]; group++, weights += ENCODED) {
            const int8x16_t digits[DIGITS] = {vld1q_s8(weights), vld1q_s8(weights + DML_LANE),
                                              vld1q_s8(weights + 2 * DML_LANE)};
            add(&missed, vdupq_n_s8(1), digits);
            DML_UNROLL
            for (int k = 0; k < DML_LINES; k++)
                add(&all[k], less_128(vqtbl1q_u8(vld1q_u8((const uint8_t *)in[k] + at), control)), digits);
            at += lanes->step;
        }
        const int32x4_t more = vshlq_n_s32(total(&missed), 7);
        DML_UNROLL
        for (int k = 0; k < DML_LINES; k++)
            store(vaddq_s32(total(&all[k]), more), out[k] + (block * outputs - begin) * items, half, down, items, wide);
    }
}

TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    const bool wide = ((const dml_lanes *)pass->packed)->wide;
    if (pass->items == 1 && wide)
        run_columns(pass, in, out, begin, end, 1, true);
    else if (pass->items == 2 && wide)
        run_columns(pass, in, out, begin, end, 2, true);
    else
        run_columns(pass, in, out, begin, end, (int)pass->items, false);
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

/* 16 items. */
INLINE void run_vector(const char *const *lines, const uint32_t *weights, const uint32_t *end, int64_t at, char *out,
                       int32x4_t more, int32x4_t down)
{
    sums a = no_sums(), b = a, c = a, d = a;
    for (; weights < end; weights += DIGITS, lines += 4) {
        const uint8x16_t line0 = vld1q_u8((const uint8_t *)lines[0] + at), line1 = vld1q_u8((const uint8_t *)lines[1] + at);
        const uint8x16_t line2 = vld1q_u8((const uint8_t *)lines[2] + at), line3 = vld1q_u8((const uint8_t *)lines[3] + at);
        const uint16x8_t low0 = vreinterpretq_u16_u8(vzip1q_u8(line0, line1)),
                         high0 = vreinterpretq_u16_u8(vzip2q_u8(line0, line1));
        const uint16x8_t low1 = vreinterpretq_u16_u8(vzip1q_u8(line2, line3)),
                         high1 = vreinterpretq_u16_u8(vzip2q_u8(line2, line3));
        const int8x16_t digits[DIGITS] = {vreinterpretq_s8_u32(vdupq_n_u32(weights[0])),
                                          vreinterpretq_s8_u32(vdupq_n_u32(weights[1])),
                                          vreinterpretq_s8_u32(vdupq_n_u32(weights[2]))};
        add(&a, less_128(vreinterpretq_u8_u16(vzip1q_u16(low0, low1))), digits);
        add(&b, less_128(vreinterpretq_u8_u16(vzip2q_u16(low0, low1))), digits);
        add(&c, less_128(vreinterpretq_u8_u16(vzip1q_u16(high0, high1))), digits);
        add(&d, less_128(vreinterpretq_u8_u16(vzip2q_u16(high0, high1))), digits);
    }
    const uint8x8_t first = clipped(vaddq_s32(total(&a), more), vaddq_s32(total(&b), more), down);
    const uint8x8_t second = clipped(vaddq_s32(total(&c), more), vaddq_s32(total(&d), more), down);
    vst1q_u8((uint8_t *)out + at, vcombine_u8(first, second));
}

/* The last vector may overlap the one before it. */
TARGET static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    const dml_row_taps *taps = pass->packed;
    const char *room[DML_MOST_ROW_TAPS + 4];
    const char *const *lines = count < VECTOR ? NULL : dml_row_lines(taps, in, output, 4, room);
    if (!lines) {
        dml_lines_plain.rows(pass, in, output, out, count);
        return;
    }
    const int32_t *row = dml_weights_row(pass->weights, output);
    uint32_t more = UINT32_C(1) << pass->summing.sum->shift >> 1;
    for (int64_t t = 1; t <= pass->weights->taps; t++)
        more += LEFT_OUT * (uint32_t)row[t];
    const uint32_t *weights = taps->weights + taps->at[output], *end = taps->weights + taps->at[output + 1];
    const int32x4_t down = vdupq_n_s32(-pass->summing.sum->shift), sum = vdupq_n_s32((int32_t)more);
    for (int64_t at = 0; at + VECTOR <= count; at += VECTOR)
        run_vector(lines, weights, end, at, out, sum, down);
    if (count % VECTOR > 0)
        run_vector(lines, weights, end, count - VECTOR, out, sum, down);
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

static bool choose_columns(dml_lines_pass *pass)
{
    return dml_lanes_fit(pass) && dml_lanes_choose_columns(pass, &dml_lines_neon, DML_SLOT_NEON, pack);
}

static bool choose_rows(dml_lines_pass *pass)
{
    return dml_lanes_choose_rows(pass, &dml_lines_neon, DML_SLOT_NEON, pack_rows);
}

const dml_lines_kernel dml_lines_neon = {.name = "neon",
                                         .is_supported = is_supported,
                                         .choose_columns = choose_columns,
                                         .choose_rows = choose_rows,
                                         .columns = columns,
                                         .rows = rows};

#endif
