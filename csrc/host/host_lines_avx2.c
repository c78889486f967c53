/* AVX2. A weight is a signed word of 16 bits and a signed byte above it. Products of words and bytes are added in 32 bits,
 * those of the upper bytes in 16 bits, which are added to the others after at most CHUNK groups. */
#include "host/host_avx2.h"

#ifdef DML_LINES_X86

#include "base/compiler.h"
#include "base/processor.h"

enum { LANES = 2, VECTOR = 32, WORDS = 3, CHUNK = DML_LANE_CHUNK / 4 };

bool dml_lines_have_avx2(void)
{
    return dml_processor_has(DML_AVX2);
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/* The words of even taps, those of odd taps, and the upper bytes: 0x8000 is added to what is above a signed word. */
AVX2_TARGET static void encode(const int32_t *weights, uint32_t *words)
{
    const __m128i four = _mm_loadu_si128((const void *)weights), above = _mm_add_epi32(four, _mm_set1_epi32(0x8000));
    const __m128i low = _mm_setr_epi8(0, 1, 8, 9, 4, 5, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i high = _mm_setr_epi8(2, 6, 10, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    _mm_storel_epi64((void *)words, _mm_shuffle_epi8(four, low));
    words[2] = (uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi8(above, high));
}

/* Of two taps: the words, and the upper bytes twice. */
static void encode_row(const int32_t *weights, uint32_t *words)
{
    const uint32_t a = (uint32_t)weights[0], b = (uint32_t)weights[1];
    const uint32_t bytes = ((a + 0x8000) >> 16 & 0xFF) | ((b + 0x8000) >> 8 & 0xFF00);
    words[0] = (a & 0xFFFF) | b << 16;
    words[1] = bytes | bytes << 16;
}

static void *pack(const dml_weights *weights, int64_t items)
{
    return dml_lanes_make(weights, items, LANES, WORDS, encode);
}

static void *pack_rows(const dml_weights *weights, int64_t items)
{
    (void)items;
    return dml_row_taps_make(weights, 2, 2, encode_row);
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

typedef struct sums {
    __m256i words, bytes; /* of 32 bits; of 16 */
} sums;

AVX2_INLINE void carry(sums *sums)
{
    const __m256i pairs = _mm256_madd_epi16(sums->bytes, _mm256_set1_epi16(1));
    sums->words = _mm256_add_epi32(sums->words, _mm256_slli_epi32(pairs, 16));
    sums->bytes = _mm256_setzero_si256();
}

AVX2_INLINE void add_group(sums *sums, const char *line, const int64_t *at, __m256i control, const __m256i *weights)
{
    const __m256i bytes = _mm256_shuffle_epi8(dml_avx2_lanes(line, at[0], at[1]), control);
    sums->words = _mm256_add_epi32(sums->words, dml_avx2_products(bytes, weights));
    sums->bytes = _mm256_add_epi16(sums->bytes, _mm256_maddubs_epi16(bytes, weights[2]));
}

AVX2_INLINE __m256i shifted(__m256i sums, __m256i half, __m128i shift)
{
    return _mm256_sra_epi32(_mm256_add_epi32(sums, half), shift);
}

/* Each lane has the sums of its outputs. */
AVX2_INLINE void store(const __m256i *lines, char *const *out, int64_t at, __m256i half, __m128i shift, const int items)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i drop = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, -1, -1, 8, 9, 10, 12, 13, 14, -1, -1));
    const __m256i a = _mm256_packs_epi32(shifted(lines[0], half, shift), shifted(lines[1], half, shift));
    const __m256i b = _mm256_packs_epi32(shifted(lines[2], half, shift), shifted(lines[3], half, shift));
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
    if (items == 3)
        bytes = _mm256_shuffle_epi8(bytes, drop);
    const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    _mm_storel_epi64((void *)(out[0] + at), low);
    _mm_storel_epi64((void *)(out[1] + at), _mm_unpackhi_epi64(low, low));
    _mm_storel_epi64((void *)(out[2] + at), high);
    _mm_storel_epi64((void *)(out[3] + at), _mm_unpackhi_epi64(high, high));
}

AVX2_INLINE __m256i fold_pairs(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

AVX2_INLINE __m256i fold_all(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

/* Each lane has the sums of one output, several of an item, which are added. Then the items of all lines follow each other. */
AVX2_INLINE void store_wide(const __m256i *lines, char *const *out, int64_t at, __m256i half, __m128i shift, const int items)
{
    __m256i words;
    if (items == 1) {
        const __m256i all = fold_pairs(fold_all(lines[0], lines[1]), fold_all(lines[2], lines[3]));
        words = _mm256_packs_epi32(shifted(all, half, shift), _mm256_setzero_si256());
    } else {
        const __m256i a = fold_pairs(lines[0], lines[1]), b = fold_pairs(lines[2], lines[3]);
        words = _mm256_packs_epi32(shifted(a, half, shift), shifted(b, half, shift));
    }
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const uint64_t low = (uint64_t)_mm256_extract_epi64(bytes, 0), high = (uint64_t)_mm256_extract_epi64(bytes, 2);
    DML_UNROLL
    for (int k = 0; k < DML_LINES; k++)
        for (int i = 0; i < items; i++) {
            out[k][at + i] = (char)(low >> 8 * (k * items + i));
            out[k][at + items + i] = (char)(high >> 8 * (k * items + i));
        }
}

AVX2_INLINE void run_columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                             const int items, const bool wide)
{
    const dml_lanes *lanes = pass->packed;
    const int64_t outputs = LANES * lanes->outputs, step = lanes->step;
    const __m128i shift = _mm_cvtsi32_si128(pass->summing.sum->shift);
    const __m256i half = _mm256_set1_epi32((int32_t)(UINT32_C(1) << pass->summing.sum->shift >> 1));
    const char *line0 = in[0], *line1 = in[1], *line2 = in[2], *line3 = in[3];
    for (int64_t block = begin / outputs; block * outputs < end; block++) {
        const __m256i control = _mm256_loadu_si256((const void *)(lanes->controls + VECTOR * block));
        const __m256i *weights = (const void *)(lanes->weights + (int64_t)lanes->groups[block] * LANES * WORDS * DML_LANE);
        int64_t at[LANES] = {lanes->positions[LANES * block], lanes->positions[LANES * block + 1]};
        sums a = {_mm256_setzero_si256(), _mm256_setzero_si256()}, b = a, c = a, d = a;
        for (int32_t group = lanes->groups[block], last = lanes->groups[block + 1]; group < last;) {
            const int32_t until = group + CHUNK < last ? group + CHUNK : last;
            for (; group < until; group++, weights += 3, at[0] += step, at[1] += step) {
                add_group(&a, line0, at, control, weights);
                add_group(&b, line1, at, control, weights);
                add_group(&c, line2, at, control, weights);
                add_group(&d, line3, at, control, weights);
            }
            carry(&a);
            carry(&b);
            carry(&c);
            carry(&d);
        }
        const __m256i lines[DML_LINES] = {a.words, b.words, c.words, d.words};
        if (wide)
            store_wide(lines, out, (block * outputs - begin) * items, half, shift, items);
        else
            store(lines, out, (block * outputs - begin) * items, half, shift, items);
    }
}

AVX2_TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    const bool wide = ((const dml_lanes *)pass->packed)->wide;
    if (pass->items == 1 && wide)
        run_columns(pass, in, out, begin, end, 1, true);
    else if (pass->items == 2 && wide)
        run_columns(pass, in, out, begin, end, 2, true);
    else if (pass->items == 3)
        run_columns(pass, in, out, begin, end, 3, false);
    else
        run_columns(pass, in, out, begin, end, (int)pass->items, false);
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

/* The upper bytes' sums of 16 items, as those of 8 each. */
AVX2_INLINE void carry_rows(__m256i words[2], __m256i *bytes)
{
    const __m256i zero = _mm256_setzero_si256();
    words[0] = _mm256_add_epi32(words[0], _mm256_unpacklo_epi16(zero, *bytes));
    words[1] = _mm256_add_epi32(words[1], _mm256_unpackhi_epi16(zero, *bytes));
    *bytes = zero;
}

AVX2_INLINE void add_pair(__m256i words[2], __m256i *bytes, __m256i zipped, __m256i lower_pair, __m256i upper_pair)
{
    const __m256i zero = _mm256_setzero_si256();
    *bytes = _mm256_add_epi16(*bytes, _mm256_maddubs_epi16(zipped, upper_pair));
    words[0] = _mm256_add_epi32(words[0], _mm256_madd_epi16(_mm256_unpacklo_epi8(zipped, zero), lower_pair));
    words[1] = _mm256_add_epi32(words[1], _mm256_madd_epi16(_mm256_unpackhi_epi8(zipped, zero), lower_pair));
}

/* 32 items. */
AVX2_INLINE void run_vector(const char *const *lines, const uint32_t *weights, const uint32_t *end, int64_t at, char *out,
                            __m256i half, __m128i shift)
{
    __m256i low[2] = {half, half}, high[2] = {half, half}, low_bytes = _mm256_setzero_si256(), high_bytes = low_bytes;
    const int64_t chunk = (int64_t)2 * CHUNK;
    while (weights < end) {
        const uint32_t *until = end - weights > chunk ? weights + chunk : end;
        for (; weights < until; weights += 2, lines += 2) {
            const __m256i a = _mm256_loadu_si256((const void *)(lines[0] + at));
            const __m256i b = _mm256_loadu_si256((const void *)(lines[1] + at));
            const __m256i lower_pair = _mm256_set1_epi32((int32_t)weights[0]);
            const __m256i upper_pair = _mm256_set1_epi32((int32_t)weights[1]);
            add_pair(low, &low_bytes, _mm256_unpacklo_epi8(a, b), lower_pair, upper_pair);
            add_pair(high, &high_bytes, _mm256_unpackhi_epi8(a, b), lower_pair, upper_pair);
        }
        carry_rows(low, &low_bytes);
        carry_rows(high, &high_bytes);
    }
    const __m256i a = _mm256_packs_epi32(_mm256_sra_epi32(low[0], shift), _mm256_sra_epi32(low[1], shift));
    const __m256i b = _mm256_packs_epi32(_mm256_sra_epi32(high[0], shift), _mm256_sra_epi32(high[1], shift));
    _mm256_storeu_si256((void *)(out + at), _mm256_packus_epi16(a, b));
}

/* The last vector may overlap the one before it. */
AVX2_TARGET static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    const dml_row_taps *taps = pass->packed;
    const char *room[DML_MOST_ROW_TAPS + 4];
    const char *const *lines = count < VECTOR ? NULL : dml_row_lines(taps, in, output, 2, room);
    if (!lines) {
        dml_lines_plain.rows(pass, in, output, out, count);
        return;
    }
    const uint32_t *weights = taps->weights + taps->at[output], *end = taps->weights + taps->at[output + 1];
    const __m128i shift = _mm_cvtsi32_si128(pass->summing.sum->shift);
    const __m256i half = _mm256_set1_epi32((int32_t)(UINT32_C(1) << pass->summing.sum->shift >> 1));
    for (int64_t at = 0; at + VECTOR <= count; at += VECTOR)
        run_vector(lines, weights, end, at, out, half, shift);
    if (count % VECTOR > 0)
        run_vector(lines, weights, end, count - VECTOR, out, half, shift);
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

static bool choose_columns(dml_lines_pass *pass)
{
    return dml_lanes_fit(pass) && dml_lanes_choose_columns(pass, &dml_lines_avx2, DML_SLOT_AVX2, pack);
}

static bool choose_rows(dml_lines_pass *pass)
{
    return dml_lanes_choose_rows(pass, &dml_lines_avx2, DML_SLOT_AVX2, pack_rows);
}

const dml_lines_kernel dml_lines_avx2 = {.name = "avx2",
                                         .is_supported = dml_lines_have_avx2,
                                         .choose_columns = choose_columns,
                                         .choose_rows = choose_rows,
                                         .columns = columns,
                                         .rows = rows,
                                         .alpha = dml_alpha_avx2};

#endif
