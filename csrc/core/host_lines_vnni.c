/* AVX-512 with VNNI. A weight is three signed digits of 8 bits; an instruction adds 4 products of a digit and a byte to each
 * sum, of which there is one for each digit. All wrap, but for the total of the three. */
#include "core/host_lanes.h"

#ifdef DML_LINES_X86

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define INLINE static inline TARGET __attribute__((always_inline))

enum { LANES = 4, DIGITS = 3, VECTOR = 64, ENCODED = DIGITS * DML_LANE };

static bool is_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/* The lowest digit first. Each is between -128 and 127: the next one has what it is too small for. */
static void split(int32_t weight, int8_t digits[DIGITS])
{
    digits[0] = (int8_t)weight;
    digits[1] = (int8_t)((weight + 0x80) >> 8);
    digits[2] = (int8_t)((weight + 0x8080) >> 16);
}

TARGET static void encode(const int32_t *weights, char *encoded)
{
    for (int byte = 0; byte < VECTOR; byte++)
        encoded[byte] = (char)weights[byte];
    for (int byte = 0; byte < VECTOR; byte++)
        encoded[VECTOR + byte] = (char)((weights[byte] + 0x80) >> 8);
    for (int byte = 0; byte < VECTOR; byte++)
        encoded[2 * VECTOR + byte] = (char)((weights[byte] + 0x8080) >> 16);
}

static void encode_row(const int32_t *weights, uint32_t *encoded)
{
    int8_t digits[DIGITS];
    encoded[0] = encoded[1] = encoded[2] = 0;
    for (int tap = 0; tap < 4; tap++) {
        split(weights[tap], digits);
        for (int k = 0; k < DIGITS; k++)
            encoded[k] |= (uint32_t)(uint8_t)digits[k] << 8 * tap;
    }
}

#define PACK(items)                                                                                                            \
    static void *pack_##items(const dml_weights *weights)                                                                      \
    {                                                                                                                          \
        return dml_lanes_make(weights, items, LANES, ENCODED, encode);                                                         \
    }
PACK(1)
PACK(2)
PACK(3)
PACK(4)

static void *pack_rows(const dml_weights *weights)
{
    return dml_row_taps_make(weights, 4, DIGITS, encode_row);
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

/* Of each digit. */
typedef struct sums {
    __m512i low, middle, high;
} sums;

INLINE __m512i total(const sums *sums)
{
    const __m512i upper = _mm512_add_epi32(sums->middle, _mm512_slli_epi32(sums->high, 8));
    return _mm512_add_epi32(sums->low, _mm512_slli_epi32(upper, 8));
}

/* _mm512_dpbusd_epi32, of which GCC copies each sum twice. */
INLINE void add_products(__m512i *sum, __m512i bytes, __m512i digits)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(bytes), "v"(digits));
}

INLINE void add(sums *sums, __m512i bytes, __m512i low, __m512i middle, __m512i high)
{
    add_products(&sums->low, bytes, low);
    add_products(&sums->middle, bytes, middle);
    add_products(&sums->high, bytes, high);
}

INLINE __m128i load(const char *line, int64_t at)
{
    return _mm_loadu_si128((const void *)(line + at));
}

INLINE void add_group(sums *sums, const char *line, const int64_t *at, __m512i control, const __m512i *weights)
{
    __m512i bytes = _mm512_broadcast_i32x4(load(line, at[0]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0x00F0, load(line, at[1]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0x0F00, load(line, at[2]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0xF000, load(line, at[3]));
    bytes = _mm512_shuffle_epi8(bytes, control);
    add(sums, bytes, weights[0], weights[1], weights[2]);
}

/* 16 sums as bytes. */
INLINE __m128i clipped(__m512i sums, __m512i half, __m128i shift)
{
    const __m512i shifted = _mm512_sra_epi32(_mm512_add_epi32(sums, half), shift);
    return _mm512_cvtusepi32_epi8(_mm512_max_epi32(shifted, _mm512_setzero_si512()));
}

/* Sums of the lines of a block, in which a lane has one output: the sums of each item are added, and the lines' follow each
 * other. */
INLINE __m512i fold_pairs(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

INLINE __m512i fold_all(const __m512i *lines)
{
    const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(lines[0], lines[1]), _mm512_unpackhi_epi32(lines[0], lines[1]));
    const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(lines[2], lines[3]), _mm512_unpackhi_epi32(lines[2], lines[3]));
    return fold_pairs(a, b);
}

INLINE void store_4(char *out, int32_t bytes)
{
    memcpy(out, &bytes, sizeof bytes);
}

INLINE void store_wide(const __m512i *lines, char *const *out, int64_t at, __m512i half, __m128i shift, const int items)
{
    const __m128i rows = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m128i pairs = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    if (items == 1) {
        const __m128i bytes = _mm_shuffle_epi8(clipped(fold_all(lines), half, shift), rows);
        store_4(out[0] + at, _mm_extract_epi32(bytes, 0));
        store_4(out[1] + at, _mm_extract_epi32(bytes, 1));
        store_4(out[2] + at, _mm_extract_epi32(bytes, 2));
        store_4(out[3] + at, _mm_extract_epi32(bytes, 3));
        return;
    }
    DML_UNROLL
    for (int64_t k = 0; k < 2; k++) {
        const __m128i bytes = _mm_shuffle_epi8(clipped(fold_pairs(lines[2 * k], lines[2 * k + 1]), half, shift), pairs);
        _mm_storel_epi64((void *)(out[2 * k] + at), bytes);
        _mm_storel_epi64((void *)(out[2 * k + 1] + at), _mm_unpackhi_epi64(bytes, bytes));
    }
}

INLINE void store(const __m512i *lines, char *const *out, int64_t at, __m512i half, __m128i shift, const int items)
{
    const __m128i drop = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    DML_UNROLL
    for (int k = 0; k < DML_LINES; k++) {
        __m128i bytes = clipped(lines[k], half, shift);
        if (items == 3)
            bytes = _mm_shuffle_epi8(bytes, drop);
        _mm_storeu_si128((void *)(out[k] + at), bytes);
    }
}

INLINE void run_columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                        const int items, const bool wide)
{
    const dml_lanes *lanes = pass->packed;
    const int64_t outputs = LANES * lanes->outputs, step = lanes->step;
    const __m128i shift = _mm_cvtsi32_si128(pass->summing.sum->shift);
    const __m512i half = _mm512_set1_epi32((int32_t)(UINT32_C(1) << pass->summing.sum->shift >> 1));
    const char *line0 = in[0], *line1 = in[1], *line2 = in[2], *line3 = in[3];
    for (int64_t block = begin / outputs; block * outputs < end; block++) {
        const int32_t *position = lanes->positions + LANES * block;
        const __m512i control = _mm512_loadu_si512(lanes->controls + VECTOR * block);
        const __m512i *weights = (const void *)(lanes->weights + (int64_t)lanes->groups[block] * DIGITS * VECTOR);
        int64_t at[LANES] = {position[0], position[1], position[2], position[3]};
        sums a = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()}, b = a, c = a, d = a;
        for (int32_t group = lanes->groups[block]; group < lanes->groups[block + 1]; group++, weights += DIGITS) {
            add_group(&a, line0, at, control, weights);
            add_group(&b, line1, at, control, weights);
            add_group(&c, line2, at, control, weights);
            add_group(&d, line3, at, control, weights);
            at[0] += step;
            at[1] += step;
            at[2] += step;
            at[3] += step;
        }
        const __m512i lines[DML_LINES] = {total(&a), total(&b), total(&c), total(&d)};
        const int64_t to = (block * outputs - begin) * items;
        if (wide)
            store_wide(lines, out, to, half, shift, items);
        else
            store(lines, out, to, half, shift, items);
    }
}

TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    const bool wide = ((const dml_lanes *)pass->packed)->wide;
    if (pass->items == 1 && wide)
        run_columns(pass, in, out, begin, end, 1, true);
    else if (pass->items == 2 && wide)
        run_columns(pass, in, out, begin, end, 2, true);
    else if (pass->items == 1)
        run_columns(pass, in, out, begin, end, 1, false);
    else if (pass->items == 2)
        run_columns(pass, in, out, begin, end, 2, false);
    else if (pass->items == 3)
        run_columns(pass, in, out, begin, end, 3, false);
    else
        run_columns(pass, in, out, begin, end, 4, false);
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

/* Up to 64 items, those of the mask. Zips put 4 taps of an item side by side: `a` to `d` have items in another order, which
 * packing undoes. */
INLINE void run_vector(const char *const *lines, const uint32_t *weights, const uint32_t *end, int64_t at, char *out,
                       const __mmask64 mask, __m512i half, __m128i shift)
{
    sums a = {half, _mm512_setzero_si512(), _mm512_setzero_si512()}, b = a, c = a, d = a;
    for (; weights < end; weights += DIGITS, lines += 4) {
        const __m512i line0 = _mm512_maskz_loadu_epi8(mask, lines[0] + at),
                      line1 = _mm512_maskz_loadu_epi8(mask, lines[1] + at);
        const __m512i line2 = _mm512_maskz_loadu_epi8(mask, lines[2] + at),
                      line3 = _mm512_maskz_loadu_epi8(mask, lines[3] + at);
        const __m512i low0 = _mm512_unpacklo_epi8(line0, line1), low1 = _mm512_unpacklo_epi8(line2, line3);
        const __m512i high0 = _mm512_unpackhi_epi8(line0, line1), high1 = _mm512_unpackhi_epi8(line2, line3);
        const __m512i low = _mm512_set1_epi32((int32_t)weights[0]), middle = _mm512_set1_epi32((int32_t)weights[1]),
                      high = _mm512_set1_epi32((int32_t)weights[2]);
        add(&a, _mm512_unpacklo_epi16(low0, low1), low, middle, high);
        add(&b, _mm512_unpackhi_epi16(low0, low1), low, middle, high);
        add(&c, _mm512_unpacklo_epi16(high0, high1), low, middle, high);
        add(&d, _mm512_unpackhi_epi16(high0, high1), low, middle, high);
    }
    const __m512i first = _mm512_packs_epi32(_mm512_sra_epi32(total(&a), shift), _mm512_sra_epi32(total(&b), shift));
    const __m512i second = _mm512_packs_epi32(_mm512_sra_epi32(total(&c), shift), _mm512_sra_epi32(total(&d), shift));
    _mm512_mask_storeu_epi8(out + at, mask, _mm512_packus_epi16(first, second));
}

TARGET static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    const dml_row_taps *taps = pass->packed;
    const char *room[DML_MOST_ROW_TAPS + 4];
    const char *const *lines = dml_row_lines(taps, in, output, 4, room);
    if (!lines) {
        dml_lines_plain.rows(pass, in, output, out, count);
        return;
    }
    const uint32_t *weights = taps->weights + taps->at[output], *end = taps->weights + taps->at[output + 1];
    const __m128i shift = _mm_cvtsi32_si128(pass->summing.sum->shift);
    const __m512i half = _mm512_set1_epi32((int32_t)(UINT32_C(1) << pass->summing.sum->shift >> 1));
    int64_t at = 0;
    for (; at + VECTOR <= count; at += VECTOR)
        run_vector(lines, weights, end, at, out, ~UINT64_C(0), half, shift);
    if (at < count)
        run_vector(lines, weights, end, at, out, ~UINT64_C(0) >> (VECTOR - (count - at)), half, shift);
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

static bool choose_columns(dml_lines_pass *pass)
{
    static dml_weights_pack *const packs[] = {pack_1, pack_2, pack_3, pack_4};
    if (!dml_lanes_fit(pass) || pass->items > 4)
        return false;
    const int slot = DML_SLOT_VNNI + (int)pass->items;
    const dml_lanes *lanes = dml_weights_packed(pass->weights, slot, packs[pass->items - 1], free);
    pass->overreads = lanes && lanes->overreads;
    return dml_lanes_choose(pass, &dml_lines_vnni, lanes);
}

static bool choose_rows(dml_lines_pass *pass)
{
    return dml_lanes_fit(pass) &&
           dml_lanes_choose(pass, &dml_lines_vnni, dml_weights_packed(pass->weights, DML_SLOT_VNNI, pack_rows, free));
}

const dml_lines_kernel dml_lines_vnni = {"vnni", is_supported, choose_columns, choose_rows, columns, rows};

#endif
