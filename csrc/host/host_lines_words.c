/* AVX2: sums of any numbers, which have 32 bits on the way: OpenCV's passes with words or floats between them. */
#include "host/host_avx2.h"

#ifdef DML_LINES_X86

#include "base/compiler.h"

enum { VECTORS = 4, ITEMS = 8, BLOCK = VECTORS * ITEMS };

/* --- along rows --------------------------------------------------------------------------------------------------- */

/* What a row is made of. */
typedef struct row {
    __m256 scale; /* of weights of DML_SUM_CUBIC */
    __m128i shift;
    const char *const *lines;
    const int32_t *weights;
    int64_t taps;
    const dml_sum *sum;
} row;

AVX2_INLINE __m256i load_integers(const char *line, int64_t at, const int bytes)
{
    if (bytes == 2)
        return _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(line + 2 * at)));
    return _mm256_loadu_si256((const void *)(line + 4 * at));
}

AVX2_INLINE __m256i add_float(__m256i sum, __m256 input, __m256 weight)
{
    const __m256 product = _mm256_mul_ps(weight, input);
    return _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(sum), product));
}

AVX2_INLINE __m256i add_tap(__m256i sum, const row *row, int64_t tap, int64_t at, const dml_sum_kind kind, const int bytes,
                            const bool floats)
{
    const __m256i weight = _mm256_set1_epi32(row->weights[tap]), input = load_integers(row->lines[tap], at, bytes);
    const __m256 number = floats ? _mm256_castsi256_ps(input) : _mm256_cvtepi32_ps(input);
    switch (kind) {
    case DML_SUM_ROUND:
        return add_float(sum, number, _mm256_castsi256_ps(weight));
    case DML_SUM_CUBIC:
        return add_float(sum, number, _mm256_mul_ps(_mm256_cvtepi32_ps(weight), row->scale));
    default:
        return _mm256_add_epi32(sum, _mm256_mullo_epi32(weight, input));
    }
}

/* To nearest even; what is beyond a byte is clipped when it is packed. */
AVX2_INLINE __m256i rounded(__m256 value)
{
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(value, _mm256_setzero_ps()), _mm256_set1_ps(255)));
}

AVX2_INLINE __m256i become(__m256i value, const row *row, const dml_sum_kind kind)
{
    const dml_sum *sum = row->sum;
    switch (kind) {
    case DML_SUM_CLIP: {
        const __m256i half = _mm256_set1_epi32((int32_t)(UINT32_C(1) << sum->shift >> 1));
        return _mm256_sra_epi32(_mm256_add_epi32(value, half), row->shift);
    }
    case DML_SUM_ROUND:
    case DML_SUM_CUBIC:
        return rounded(_mm256_castsi256_ps(value));
    case DML_SUM_TIMES:
        return rounded(_mm256_mul_ps(_mm256_cvtepi32_ps(value), _mm256_set1_ps(sum->factor)));
    case DML_SUM_OVER:
        return rounded(_mm256_div_ps(_mm256_cvtepi32_ps(value), _mm256_set1_ps(sum->factor)));
    case DML_SUM_REDUCE:
        value = _mm256_add_epi32(value, _mm256_set1_epi32((int32_t)sum->half));
        return _mm256_srli_epi32(_mm256_mullo_epi32(value, _mm256_set1_epi32((int32_t)sum->multiplier)), 24);
    default:
        return value;
    }
}

/* 32 items. */
AVX2_INLINE void run_block(const row *row, int64_t at, char *out, const dml_sum_kind kind, const int bytes, const bool floats)
{
    __m256i sums[VECTORS];
    DML_UNROLL
    for (int k = 0; k < VECTORS; k++)
        sums[k] = _mm256_setzero_si256();
    for (int64_t t = 0; t < row->taps; t++) {
        const int64_t tap = kind == DML_SUM_CUBIC ? row->taps - 1 - t : t;
        DML_UNROLL
        for (int64_t k = 0; k < VECTORS; k++)
            sums[k] = add_tap(sums[k], row, tap, at + ITEMS * k, kind, bytes, floats);
    }
    DML_UNROLL
    for (int k = 0; k < VECTORS; k++)
        sums[k] = become(sums[k], row, kind);
    const __m256i low = _mm256_packs_epi32(sums[0], sums[1]), high = _mm256_packs_epi32(sums[2], sums[3]);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), packed = _mm256_packus_epi16(low, high);
    _mm256_storeu_si256((void *)(out + at), _mm256_permutevar8x32_epi32(packed, order));
}

/* The last block may overlap the one before it. */
AVX2_INLINE void run_row(const row *row, char *out, int64_t count, const dml_sum_kind kind, const int bytes, const bool floats)
{
    for (int64_t at = 0; at + BLOCK <= count; at += BLOCK)
        run_block(row, at, out, kind, bytes, floats);
    if (count % BLOCK > 0)
        run_block(row, count - BLOCK, out, kind, bytes, floats);
}

AVX2_TARGET static void run_kind(const row *row, char *out, int64_t count, int64_t bytes)
{
    switch (row->sum->kind) {
    case DML_SUM_ROUND:
        run_row(row, out, count, DML_SUM_ROUND, 4, true);
        return;
    case DML_SUM_CUBIC:
        run_row(row, out, count, DML_SUM_CUBIC, 4, false);
        return;
    case DML_SUM_TIMES:
        run_row(row, out, count, DML_SUM_TIMES, 4, false);
        return;
    case DML_SUM_OVER:
        run_row(row, out, count, DML_SUM_OVER, 4, false);
        return;
    case DML_SUM_REDUCE:
        run_row(row, out, count, DML_SUM_REDUCE, 4, false);
        return;
    default:
        if (bytes == 4)
            run_row(row, out, count, DML_SUM_CLIP, 4, false);
        else
            run_row(row, out, count, DML_SUM_CLIP, 2, false);
    }
}

/* Pointers to the lines of all taps, which are at most DML_MOST_ROW_TAPS. */
AVX2_TARGET static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    const char *lines[DML_MOST_ROW_TAPS];
    const int32_t *weights = dml_weights_row(pass->weights, output);
    const int32_t bits = pass->summing.sum->shift;
    if (count < BLOCK) {
        dml_lines_plain.rows(pass, in, output, out, count);
        return;
    }
    for (int64_t t = 0; t < pass->weights->taps; t++) {
        const int64_t index = dml_clamp(weights[0] + t, in->low, in->high);
        lines[t] = in->base + (index & in->mask) * in->stride;
    }
    const row row = {.lines = lines,
                     .weights = weights + 1,
                     .taps = pass->weights->taps,
                     .shift = _mm_cvtsi32_si128(bits),
                     .scale = _mm256_set1_ps(1.0F / (float)(1 << (bits < 31 ? bits : 0))),
                     .sum = pass->summing.sum};
    run_kind(&row, out, count, pass->from);
}

/* Kinds that make bytes of what passes along columns leave. Words beyond 16 bits would be cut off differently. */
static bool choose_rows(dml_lines_pass *pass)
{
    const dml_sum_kind kind = pass->summing.sum->kind;
    const bool words = kind == DML_SUM_CLIP && (pass->from == 2 || pass->from == 4);
    const bool others = kind == DML_SUM_ROUND || kind == DML_SUM_CUBIC || kind == DML_SUM_TIMES || kind == DML_SUM_OVER ||
                        kind == DML_SUM_REDUCE;
    if (pass->weights->taps > DML_MOST_ROW_TAPS || pass->to != 1 || !(words || (others && pass->from == 4)))
        return false;
    pass->kernel = &dml_lines_words;
    return true;
}

/* --- along columns: integers -------------------------------------------------------------------------------------- */

/* Lanes of two outputs or more, as of host_lines_avx2.c, whose weights are words: those of even taps, and those of odd taps. */
enum { LANES = 2, WORDS = 2 };

AVX2_TARGET static void encode(const int32_t *weights, uint32_t *words)
{
    const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 4, 5, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    _mm_storel_epi64((void *)words, _mm_shuffle_epi8(_mm_loadu_si128((const void *)weights), order));
}

static void *pack(const dml_weights *weights, int64_t items)
{
    return weights->largest <= INT16_MAX ? dml_lanes_make(weights, items, LANES, WORDS, encode) : NULL;
}

/* Each lane has 4 sums, of which 3 are outputs where pixels have 3 items: the second lane follows them. */
AVX2_INLINE void store_lanes(__m256i sums, char *out, const int items)
{
    _mm_storeu_si128((void *)out, _mm256_castsi256_si128(sums));
    _mm_storeu_si128((void *)(out + (items == 3 ? 12 : 16)), _mm256_extracti128_si256(sums, 1));
}

/* Each lane has one output; the sums of an item are added. */
AVX2_INLINE void store_wide(__m256i sums, char *out, const int64_t items)
{
    sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4E));
    if (items == 1)
        sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xB1));
    const __m128i low = _mm256_castsi256_si128(sums), high = _mm256_extracti128_si256(sums, 1);
    _mm_storel_epi64((void *)out, low);
    _mm_storel_epi64((void *)(out + items * 4), high);
}

AVX2_INLINE void run_line(const dml_lines_pass *pass, const char *line, char *out, int64_t begin, int64_t end, const int items)
{
    const dml_lanes *lanes = pass->packed;
    const int64_t outputs = LANES * lanes->outputs, step = lanes->step;
    for (int64_t block = begin / outputs; block * outputs < end; block++) {
        const __m256i control = _mm256_loadu_si256((const void *)(lanes->controls + block * LANES * DML_LANE));
        const __m256i *weights = (const void *)(lanes->weights + (int64_t)lanes->groups[block] * LANES * WORDS * DML_LANE);
        int64_t first = lanes->positions[LANES * block], second = lanes->positions[LANES * block + 1];
        __m256i sums = _mm256_setzero_si256();
        for (int32_t group = lanes->groups[block]; group < lanes->groups[block + 1]; group++, weights += 2) {
            const __m256i bytes = _mm256_shuffle_epi8(dml_avx2_lanes(line, first, second), control);
            sums = _mm256_add_epi32(sums, dml_avx2_products(bytes, weights));
            first += step;
            second += step;
        }
        char *to = out + (block * outputs - begin) * items * 4;
        if (lanes->wide)
            store_wide(sums, to, items);
        else
            store_lanes(sums, to, items);
    }
}

AVX2_INLINE void run_lines(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                           const int items)
{
    for (int k = 0; k < DML_LINES && (k == 0 || out[k] != out[k - 1]); k++)
        run_line(pass, in[k], out[k], begin, end, items);
}

AVX2_TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    if (pass->items == 1)
        run_lines(pass, in, out, begin, end, 1);
    else if (pass->items == 2)
        run_lines(pass, in, out, begin, end, 2);
    else if (pass->items == 3)
        run_lines(pass, in, out, begin, end, 3);
    else
        run_lines(pass, in, out, begin, end, 4);
}

static bool choose_columns(dml_lines_pass *pass)
{
    return pass->summing.sum->kind == DML_SUM_SHIFT && pass->summing.sum->shift == 0 && pass->from == 1 && pass->to == 4 &&
           !pass->weights->is_float && pass->weights->inside &&
           dml_lanes_choose_columns(pass, &dml_lines_words, DML_SLOT_WORDS, pack);
}

const dml_lines_kernel dml_lines_words = {.name = "words",
                                          .is_supported = dml_lines_have_avx2,
                                          .choose_columns = choose_columns,
                                          .choose_rows = choose_rows,
                                          .columns = columns,
                                          .rows = rows};

#endif
