#include "host/host_vnni.h"

#ifdef DML_LINES_X86

#include "base/compiler.h"

/* The lowest digit of 4 weights first. Each is between -128 and 127: the next one has what it is too small for. With 0x8080
 * added, the two lower bytes have the digits with another sign bit. */
VNNI_TARGET void dml_vnni_encode(const int32_t *weights, uint32_t *words)
{
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, -1, -1, -1, -1), bias = _mm_set1_epi32(0x8080);
    const __m128i four = _mm_loadu_si128((const void *)weights);
    const __m128i digits = _mm_shuffle_epi8(_mm_xor_si128(_mm_add_epi32(four, bias), bias), order);
    _mm_mask_storeu_epi32(words, 7, digits);
}

void *dml_vnni_pack_rows(const dml_weights *weights, int64_t items)
{
    (void)items;
    return dml_row_taps_make(weights, 4, DML_DIGITS, dml_vnni_encode);
}

/* Up to 64 items, those of the mask. Zips put 4 taps of an item side by side: `a` to `d` have items in another order, which
 * packing undoes. */
VNNI_INLINE void run_vector(const char *const *lines, const uint32_t *weights, const uint32_t *end, int64_t at, char *out,
                            const __mmask64 mask, __m512i half, __m128i shift)
{
    dml_vnni_sums a = {half, _mm512_setzero_si512(), _mm512_setzero_si512()}, b = a, c = a, d = a;
    for (; weights < end; weights += DML_DIGITS, lines += 4) {
        const __m512i line0 = _mm512_maskz_loadu_epi8(mask, lines[0] + at),
                      line1 = _mm512_maskz_loadu_epi8(mask, lines[1] + at);
        const __m512i line2 = _mm512_maskz_loadu_epi8(mask, lines[2] + at),
                      line3 = _mm512_maskz_loadu_epi8(mask, lines[3] + at);
        const __m512i low0 = _mm512_unpacklo_epi8(line0, line1), low1 = _mm512_unpacklo_epi8(line2, line3);
        const __m512i high0 = _mm512_unpackhi_epi8(line0, line1), high1 = _mm512_unpackhi_epi8(line2, line3);
        const __m512i low = _mm512_set1_epi32((int32_t)weights[0]), middle = _mm512_set1_epi32((int32_t)weights[1]),
                      high = _mm512_set1_epi32((int32_t)weights[2]);
        dml_vnni_add(&a, _mm512_unpacklo_epi16(low0, low1), low, middle, high);
        dml_vnni_add(&b, _mm512_unpackhi_epi16(low0, low1), low, middle, high);
        dml_vnni_add(&c, _mm512_unpacklo_epi16(high0, high1), low, middle, high);
        dml_vnni_add(&d, _mm512_unpackhi_epi16(high0, high1), low, middle, high);
    }
    const __m512i first =
        _mm512_packs_epi32(_mm512_sra_epi32(dml_vnni_total(&a), shift), _mm512_sra_epi32(dml_vnni_total(&b), shift));
    const __m512i second =
        _mm512_packs_epi32(_mm512_sra_epi32(dml_vnni_total(&c), shift), _mm512_sra_epi32(dml_vnni_total(&d), shift));
    _mm512_mask_storeu_epi8(out + at, mask, _mm512_packus_epi16(first, second));
}

VNNI_TARGET void dml_vnni_rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
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
    for (; at + DML_VNNI_BYTES <= count; at += DML_VNNI_BYTES)
        run_vector(lines, weights, end, at, out, ~UINT64_C(0), half, shift);
    if (at < count)
        run_vector(lines, weights, end, at, out, ~UINT64_C(0) >> (DML_VNNI_BYTES - (count - at)), half, shift);
}

#endif
