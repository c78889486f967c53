/* AVX2: means of blocks of 2 x 2 bytes, which are OpenCV's halves of images, both passes at once. To the pass along rows, a
 * byte and that of the next pixel are an item of 2 bytes. */
#include "host/host_avx2.h"

#ifdef DML_LINES_X86

enum { LANE = 16 };

/* Bytes of a lane that are whole pairs of pixels. */
AVX2_INLINE int64_t used_of(const int64_t items)
{
    return items == 3 ? 12 : LANE;
}

/* The two bytes of an item side by side. */
AVX2_INLINE __m256i control_of(const int64_t items)
{
    if (items == 3)
        return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, -1, -1, -1, -1));
    return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
}

/* Sums of two lanes of a line. */
AVX2_INLINE __m256i pairs_of(const char *line, const int64_t items)
{
    __m256i bytes = dml_avx2_lanes(line, 0, used_of(items));
    if (items > 1)
        bytes = _mm256_shuffle_epi8(bytes, control_of(items));
    return _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
}

AVX2_INLINE void run_vector(const char *a, const char *b, char *out, const int64_t items)
{
    const __m256i sums = _mm256_add_epi16(_mm256_add_epi16(pairs_of(a, items), pairs_of(b, items)), _mm256_set1_epi16(2));
    const __m256i means = _mm256_srli_epi16(sums, 2);
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(means), _mm256_extracti128_si256(means, 1));
    if (items == 3) {
        const __m128i order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1);
        _mm_storeu_si128((void *)out, _mm_shuffle_epi8(bytes, order));
    } else {
        _mm_storeu_si128((void *)out, bytes);
    }
}

/* Vectors read and write as many bytes as there are; single items follow. */
AVX2_INLINE void run(const char *a, const char *b, char *out, int64_t count, const int64_t items)
{
    const unsigned char *first = (const unsigned char *)a, *second = (const unsigned char *)b;
    int64_t at = 0;
    for (; at + LANE <= count && 2 * at + used_of(items) + LANE <= 2 * count; at += used_of(items))
        run_vector(a + 2 * at, b + 2 * at, out + at, items);
    for (; at < count; at += items)
        for (int64_t k = 2 * at; k < 2 * at + items; k++)
            out[k - at] = (char)((first[k] + first[k + items] + second[k] + second[k + items] + 2) >> 2);
}

AVX2_TARGET static void rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count)
{
    const int64_t first = dml_weights_row(pass->weights, output)[0];
    const char *a = in->base + (first & in->mask) * in->stride, *b = in->base + ((first + 1) & in->mask) * in->stride;
    if (pass->items == 1)
        run(a, b, out, count, 1);
    else if (pass->items == 3)
        run(a, b, out, count, 3);
    else
        run(a, b, out, count, 4);
}

static bool choose_pairs(dml_lines_pass *pass)
{
    if (pass->items != 1 && pass->items != 3 && pass->items != 4)
        return false;
    pass->kernel = &dml_lines_halves;
    return true;
}

const dml_lines_kernel dml_lines_halves = {
    .name = "halves", .is_supported = dml_lines_have_avx2, .choose_pairs = choose_pairs, .rows = rows};

#endif
