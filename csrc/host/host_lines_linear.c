/* AVX2: sums of one or two taps, by weights of 12 bits, with words of 16 bits between the passes: OpenCV's linear ones. */
#include "host/host_avx2.h"

#ifdef DML_LINES_X86

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* A block along columns has four lanes, each with as many outputs as fit, or one. */
enum { LANES = 4, MOST_WEIGHT = 4096, VECTOR = 32 };

typedef struct pairs {
    int64_t outputs; /* of a lane */
    int64_t blocks;
    int64_t most; /* of the weights of an output, together */
    bool overreads;
    struct block {
        uint8_t controls[LANES][DML_LANE]; /* to words of 16 bits: both taps of an item, in the order of the sums */
        int16_t weights[LANES][DML_LANE / 2];
        int32_t positions[LANES];
        int32_t unused[4];
    } *of;
    char memory[];
} pairs;

/* --- weights ------------------------------------------------------------------------------------------------------ */

static bool fits(const dml_weights *weights)
{
    if (weights->is_float || weights->taps > 2)
        return false;
    for (int64_t i = 0; i < weights->outputs; i++)
        for (int64_t t = 1; t <= weights->taps; t++)
            if (dml_weights_row(weights, i)[t] < 0 || dml_weights_row(weights, i)[t] > MOST_WEIGHT)
                return false;
    return true;
}

static int64_t input_of(const dml_weights *weights, int64_t output, int64_t tap)
{
    const int64_t first = dml_weights_row(weights, dml_smaller(output, weights->outputs - 1))[0];
    return dml_clamp(first + dml_smaller(tap, weights->taps - 1), 0, weights->inputs - 1);
}

/* Where a lane loads its inputs: as far in front as it takes to stay in the line. */
static int64_t position_of(const dml_weights *weights, int64_t items, int64_t first)
{
    return dml_smaller(input_of(weights, first, 0) * items, dml_larger(weights->inputs * items - DML_LANE, 0));
}

/* Whether the inputs of so many outputs fit a lane, wherever. */
static bool fit_lanes(const dml_weights *weights, int64_t items, int64_t outputs)
{
    for (int64_t first = 0; first < weights->outputs; first += outputs)
        if ((input_of(weights, first + outputs - 1, 1) + 1) * items > position_of(weights, items, first) + DML_LANE)
            return false;
    return true;
}

/* Bytes that are not used are taken as 0. */
static void write_lane(const dml_weights *weights, int64_t items, const pairs *pairs, int64_t first, struct block *block,
                       int lane)
{
    const int64_t position = position_of(weights, items, first);
    uint8_t *control = block->controls[lane];
    int16_t *words = block->weights[lane];
    block->positions[lane] = (int32_t)position;
    memset(control, 0x80, DML_LANE);
    memset(words, 0, sizeof block->weights[lane]);
    for (int64_t output = first; output < first + pairs->outputs && output < weights->outputs; output++) {
        const int64_t a = input_of(weights, output, 0) * items - position, b = input_of(weights, output, 1) * items - position;
        const int32_t *row = dml_weights_row(weights, output);
        for (int64_t item = 0; item < items; item++, control += 4, words += 2) {
            control[0] = (uint8_t)(a + item);
            control[2] = (uint8_t)(b + item);
            words[0] = (int16_t)row[1];
            words[1] = (int16_t)(weights->taps > 1 ? row[2] : 0);
        }
    }
}

/* Instructions pack the sums of two vectors lane by lane: the second lane of the block is the first of the second vector. */
static void *pack(const dml_weights *weights, int64_t items)
{
    static const int order[LANES] = {0, 2, 1, 3};
    pairs layout = {.outputs = items < 3 && fit_lanes(weights, items, 4 / items) ? 4 / items : 1};
    if (!fits(weights) || !fit_lanes(weights, items, layout.outputs))
        return NULL;
    for (int64_t i = 0; i < weights->outputs; i++) {
        const int32_t *row = dml_weights_row(weights, i);
        layout.most = dml_larger(layout.most, row[1] + (weights->taps > 1 ? row[2] : 0));
    }
    layout.overreads = weights->inputs * items < DML_LANE;
    layout.blocks = dml_ceil_div(weights->outputs, LANES * layout.outputs);
    pairs *made = malloc(sizeof *made + (size_t)(layout.blocks + 1) * sizeof *made->of);
    if (!made)
        return NULL;
    layout.of = (struct block *)(void *)(made->memory + (-(uintptr_t)made->memory % 32));
    for (int64_t i = 0; i < layout.blocks * LANES; i++)
        write_lane(weights, items, &layout, i * layout.outputs, &layout.of[i / LANES], order[i % LANES]);
    *made = layout;
    return made;
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

AVX2_INLINE __m256i sums_of(const char *line, const struct block *block, const int first, __m128i shift)
{
    const __m256i bytes = dml_avx2_lanes(line, block->positions[first], block->positions[first + 1]);
    const __m256i words = _mm256_shuffle_epi8(bytes, _mm256_load_si256((const void *)block->controls[first]));
    return _mm256_sra_epi32(_mm256_madd_epi16(words, _mm256_load_si256((const void *)block->weights[first])), shift);
}

/* Moves the words that are used to the front of a lane. */
AVX2_INLINE __m256i order_of(const int64_t used)
{
    if (used == 3)
        return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1));
    if (used == 2)
        return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1));
    return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
}

/* Of each lane `used` sums are outputs: of the others, which lie behind, the next lane takes the place. */
AVX2_INLINE void run_columns(const dml_lines_pass *pass, const char *line, char *out, int64_t begin, int64_t end,
                             const int64_t used)
{
    const pairs *pairs = pass->packed;
    const int64_t outputs = LANES * pairs->outputs;
    const __m128i shift = _mm_cvtsi32_si128(pass->summing.sum->shift);
    const __m256i order = order_of(used);
    const struct block *block = pairs->of + begin / outputs;
    out += (begin / outputs * outputs - begin) * pass->items * 2;
    for (int64_t first = begin / outputs * outputs; first < end; first += outputs, block++, out += used * LANES * 2) {
        __m256i words = _mm256_packus_epi32(sums_of(line, block, 0, shift), sums_of(line, block, 2, shift));
        if (used < 4)
            words = _mm256_shuffle_epi8(words, order);
        _mm_storeu_si128((void *)out, _mm256_castsi256_si128(words));
        _mm_storeu_si128((void *)(out + used * 4), _mm256_extracti128_si256(words, 1));
    }
}

AVX2_TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    const int64_t used = ((const pairs *)pass->packed)->outputs * pass->items;
    for (int k = 0; k < DML_LINES && (k == 0 || out[k] != out[k - 1]); k++) {
        if (used == 4)
            run_columns(pass, in[k], out[k], begin, end, 4);
        else if (used == 3)
            run_columns(pass, in[k], out[k], begin, end, 3);
        else if (used == 2)
            run_columns(pass, in[k], out[k], begin, end, 2);
        else
            run_columns(pass, in[k], out[k], begin, end, 1);
    }
}

static bool choose_columns(dml_lines_pass *pass)
{
    if (pass->summing.sum->kind != DML_SUM_SHIFT || pass->from != 1 || pass->to != 2 || pass->items > 4)
        return false;
    const pairs *pairs = dml_weights_packed(pass->weights, DML_SLOT_LINEAR + (int)pass->items, pass->items, pack);
    if (!pairs || 255 * pairs->most >> pass->summing.sum->shift > UINT16_MAX)
        return false;
    pass->kernel = &dml_lines_linear;
    pass->packed = pairs;
    pass->overreads = pairs->overreads;
    return true;
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

AVX2_INLINE __m256i load_words(const char *line, int64_t at)
{
    return _mm256_loadu_si256((const void *)(line + 2 * at));
}

/* 16 words of each line: both products are shifted by 16 before they are added. */
AVX2_INLINE __m256i add_floors(__m256i a, __m256i b, const __m256i weights[2])
{
    const __m256i sum = _mm256_add_epi16(_mm256_mulhi_epu16(a, weights[0]), _mm256_mulhi_epu16(b, weights[1]));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

/* Rounded, once they are added, by a shift: words are taken as signed ones, which are 32768 less. */
AVX2_INLINE __m256i add_rounded(__m256i a, __m256i b, __m256i pair, __m256i half, __m128i shift)
{
    const __m256i sign = _mm256_set1_epi16(INT16_MIN);
    a = _mm256_xor_si256(a, sign);
    b = _mm256_xor_si256(b, sign);
    const __m256i low = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), pair), half);
    const __m256i high = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), pair), half);
    return _mm256_packs_epi32(_mm256_sra_epi32(low, shift), _mm256_sra_epi32(high, shift));
}

/* What a row is made of. */
typedef struct row {
    __m256i weights[2], pair, half;
    __m128i shift;
    const char *lines[2];
} row;

AVX2_INLINE void run_vector(const row *row, int64_t at, char *out, const bool floors)
{
    __m256i words[2];
    DML_UNROLL
    for (int64_t k = 0; k < 2; k++) {
        const __m256i a = load_words(row->lines[0], at + 16 * k), b = load_words(row->lines[1], at + 16 * k);
        words[k] = floors ? add_floors(a, b, row->weights) : add_rounded(a, b, row->pair, row->half, row->shift);
    }
    const __m256i bytes = _mm256_packus_epi16(words[0], words[1]);
    _mm256_storeu_si256((void *)(out + at), _mm256_permute4x64_epi64(bytes, 0xD8));
}

/* The last vector may overlap the one before it. */
AVX2_INLINE void run_row(const row *row, char *out, int64_t count, const bool floors)
{
    for (int64_t at = 0; at + VECTOR <= count; at += VECTOR)
        run_vector(row, at, out, floors);
    if (count % VECTOR > 0)
        run_vector(row, count - VECTOR, out, floors);
}

AVX2_TARGET static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    const int32_t *weights = dml_weights_row(pass->weights, output), bits = pass->summing.sum->shift;
    const int64_t taps = pass->weights->taps;
    const int32_t first = weights[1], second = taps > 1 ? weights[2] : 0;
    row row = {.shift = _mm_cvtsi32_si128(bits)};
    if (count < VECTOR) {
        dml_lines_plain.rows(pass, in, output, out, count);
        return;
    }
    for (int64_t tap = 0; tap < 2; tap++) {
        const int64_t index = dml_clamp(weights[0] + dml_smaller(tap, taps - 1), in->low, in->high);
        row.lines[tap] = in->base + (index & in->mask) * in->stride;
    }
    row.weights[0] = _mm256_set1_epi16((int16_t)first);
    row.weights[1] = _mm256_set1_epi16((int16_t)second);
    row.pair = _mm256_set1_epi32(first | second << 16);
    row.half = _mm256_set1_epi32((1 << bits >> 1) + (first + second) * 32768);
    if (pass->summing.sum->kind == DML_SUM_FLOORS)
        run_row(&row, out, count, true);
    else
        run_row(&row, out, count, false);
}

/* Where all sums of words and weights fit 31 bits. */
static bool choose_rows(dml_lines_pass *pass)
{
    const dml_sum *sum = pass->summing.sum;
    const bool floors = sum->kind == DML_SUM_FLOORS && sum->shift == 16;
    if (pass->from != 2 || !(floors || sum->kind == DML_SUM_CLIP) || !fits(pass->weights))
        return false;
    pass->kernel = &dml_lines_linear;
    return true;
}

const dml_lines_kernel dml_lines_linear = {.name = "linear",
                                           .is_supported = dml_lines_have_avx2,
                                           .choose_columns = choose_columns,
                                           .choose_rows = choose_rows,
                                           .columns = columns,
                                           .rows = rows};

#endif
