#include "host/host_vnni.h"

#ifdef DML_LINES_X86

#include <string.h>

#include "base/compiler.h"
#include "base/processor.h"

enum { LANES = 4 };

static bool has_vnni(void)
{
    return dml_processor_has(DML_AVX512_VNNI);
}

static bool has_vbmi(void)
{
    return dml_processor_has(DML_AVX512_VBMI);
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

static void *pack(const dml_weights *weights, int64_t items)
{
    return dml_lanes_make(weights, items, LANES, DML_DIGITS, dml_vnni_encode);
}

/* With lanes that are joined, if that is possible. */
static void *pack_joined(const dml_weights *weights, int64_t items)
{
    dml_lanes *lanes = pack(weights, items);
    for (int64_t vectors = 1; lanes && !lanes->joined && vectors <= 2; vectors++)
        dml_lanes_join(lanes, weights->inputs, vectors);
    return lanes;
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

VNNI_INLINE __m128i load(const char *line, int64_t at)
{
    return _mm_loadu_si128((const void *)(line + at));
}

/* _mm512_permutexvar_epi8 and _mm512_permutex2var_epi8, which not all processors have that have VNNI: to a compiler,
 * they need another target; hence NOLINT. */
VNNI_INLINE __m512i shuffle_one(__m512i bytes, __m512i control)
{
    __asm__("vpermb %0, %1, %0" : "+v"(bytes) : "v"(control)); /* NOLINT(portability-no-assembler) */
    return bytes;
}

VNNI_INLINE __m512i shuffle_two(__m512i first, __m512i second, __m512i control)
{
    __asm__("vpermt2b %2, %1, %0" : "+v"(first) : "v"(control), "v"(second)); /* NOLINT(portability-no-assembler) */
    return first;
}

VNNI_INLINE __m512i load_vector(const char *line, int64_t at)
{
    return _mm512_loadu_si512(line + at);
}

VNNI_INLINE void add_group(dml_vnni_sums *sums, const char *line, const int64_t *at, __m512i control, const __m512i *weights,
                           const int joined)
{
    if (joined) {
        const __m512i first = load_vector(line, at[0]);
        const __m512i bytes =
            joined == 1 ? shuffle_one(first, control) : shuffle_two(first, load_vector(line, at[0] + DML_VNNI_BYTES), control);
        dml_vnni_add(sums, bytes, weights[0], weights[1], weights[2]);
        return;
    }
    __m512i bytes = _mm512_broadcast_i32x4(load(line, at[0]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0x00F0, load(line, at[1]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0x0F00, load(line, at[2]));
    bytes = _mm512_mask_broadcast_i32x4(bytes, 0xF000, load(line, at[3]));
    bytes = _mm512_shuffle_epi8(bytes, control);
    dml_vnni_add(sums, bytes, weights[0], weights[1], weights[2]);
}

/* 16 sums as bytes. */
VNNI_INLINE __m128i clipped(__m512i sums, __m512i half, __m128i shift)
{
    const __m512i shifted = _mm512_sra_epi32(_mm512_add_epi32(sums, half), shift);
    return _mm512_cvtusepi32_epi8(_mm512_max_epi32(shifted, _mm512_setzero_si512()));
}

/* Sums of the lines of a block, in which a lane has one output: the sums of each item are added, and the lines' follow each
 * other. */
VNNI_INLINE __m512i fold_pairs(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

VNNI_INLINE __m512i fold_all(const __m512i *lines)
{
    const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(lines[0], lines[1]), _mm512_unpackhi_epi32(lines[0], lines[1]));
    const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(lines[2], lines[3]), _mm512_unpackhi_epi32(lines[2], lines[3]));
    return fold_pairs(a, b);
}

VNNI_INLINE void store_4(char *out, int32_t bytes)
{
    memcpy(out, &bytes, sizeof bytes);
}

VNNI_INLINE void store_wide(const __m512i *lines, char *const *out, int64_t at, __m512i half, __m128i shift, const int items)
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

VNNI_INLINE void store(const __m512i *lines, char *const *out, int64_t at, __m512i half, __m128i shift, const int items)
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

VNNI_INLINE void run_columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                             const int items, const bool wide, const int joined)
{
    const dml_lanes *lanes = pass->packed;
    const int64_t outputs = LANES * lanes->outputs, step = lanes->step;
    const __m128i shift = _mm_cvtsi32_si128(pass->summing.sum->shift);
    const __m512i half = _mm512_set1_epi32((int32_t)(UINT32_C(1) << pass->summing.sum->shift >> 1));
    const char *line0 = in[0], *line1 = in[1], *line2 = in[2], *line3 = in[3];
    for (int64_t block = begin / outputs; block * outputs < end; block++) {
        const int32_t *position = lanes->positions + LANES * block;
        const __m512i control = _mm512_loadu_si512(lanes->controls + DML_VNNI_BYTES * block);
        const __m512i *weights = (const void *)(lanes->weights + (int64_t)lanes->groups[block] * DML_DIGITS * DML_VNNI_BYTES);
        int64_t at[LANES] = {position[0], position[1], position[2], position[3]};
        dml_vnni_sums a = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()}, b = a, c = a, d = a;
        for (int32_t group = lanes->groups[block]; group < lanes->groups[block + 1]; group++, weights += DML_DIGITS) {
            add_group(&a, line0, at, control, weights, joined);
            add_group(&b, line1, at, control, weights, joined);
            add_group(&c, line2, at, control, weights, joined);
            add_group(&d, line3, at, control, weights, joined);
            at[0] += step;
            at[1] += step;
            at[2] += step;
            at[3] += step;
        }
        const __m512i lines[DML_LINES] = {dml_vnni_total(&a), dml_vnni_total(&b), dml_vnni_total(&c), dml_vnni_total(&d)};
        const int64_t to = (block * outputs - begin) * items;
        if (wide)
            store_wide(lines, out, to, half, shift, items);
        else
            store(lines, out, to, half, shift, items);
    }
}

VNNI_INLINE void run_items(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                           const int items, const bool wide)
{
    const int64_t joined = ((const dml_lanes *)pass->packed)->joined;
    if (joined == 1)
        run_columns(pass, in, out, begin, end, items, wide, 1);
    else if (joined == 2)
        run_columns(pass, in, out, begin, end, items, wide, 2);
    else
        run_columns(pass, in, out, begin, end, items, wide, 0);
}

VNNI_TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    const bool wide = ((const dml_lanes *)pass->packed)->wide;
    if (pass->items == 1 && wide)
        run_items(pass, in, out, begin, end, 1, true);
    else if (pass->items == 2 && wide)
        run_items(pass, in, out, begin, end, 2, true);
    else if (pass->items == 1)
        run_items(pass, in, out, begin, end, 1, false);
    else if (pass->items == 2)
        run_items(pass, in, out, begin, end, 2, false);
    else if (pass->items == 3)
        run_items(pass, in, out, begin, end, 3, false);
    else
        run_items(pass, in, out, begin, end, 4, false);
}

/* --- the kernels -------------------------------------------------------------------------------------------------- */

static bool choose_columns(dml_lines_pass *pass)
{
    return dml_lanes_fit(pass) && dml_lanes_choose_columns(pass, &dml_lines_vnni, DML_SLOT_VNNI, pack);
}

static bool choose_joined(dml_lines_pass *pass)
{
    return dml_lanes_fit(pass) && dml_lanes_choose_columns(pass, &dml_lines_vbmi, DML_SLOT_VBMI, pack_joined);
}

static bool choose_rows(dml_lines_pass *pass)
{
    return dml_lanes_choose_rows(pass, &dml_lines_vnni, DML_SLOT_VNNI, dml_vnni_pack_rows);
}

const dml_lines_kernel dml_lines_vnni = {.name = "vnni",
                                         .is_supported = has_vnni,
                                         .choose_columns = choose_columns,
                                         .choose_rows = choose_rows,
                                         .columns = columns,
                                         .rows = dml_vnni_rows};
const dml_lines_kernel dml_lines_vbmi = {.name = "vbmi",
                                         .is_supported = has_vbmi,
                                         .choose_columns = choose_joined,
                                         .choose_rows = choose_rows,
                                         .columns = columns,
                                         .rows = dml_vnni_rows};

#endif
