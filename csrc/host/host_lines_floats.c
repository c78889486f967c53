/* AVX2: sums of bytes with weights that are floats, along columns, of pixels of 3 or 4 items: OpenCV's areas. */
#include "host/host_avx2.h"

#ifdef DML_LINES_X86

#include <string.h>

/* A pixel of two lines, with a byte behind where pixels have 3. */
AVX2_INLINE __m256 load_pixels(const char *a, const char *b)
{
    int32_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    const __m128i bytes = _mm_unpacklo_epi32(_mm_cvtsi32_si128(first), _mm_cvtsi32_si128(second));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}

/* What is written behind a pixel is overwritten by the next one. */
AVX2_INLINE void run(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end,
                     const int items)
{
    const int64_t taps = pass->weights->taps;
    for (int64_t x = begin; x < end; x++) {
        const int32_t *row = dml_weights_row(pass->weights, x);
        const int64_t to = (x - begin) * items * (int64_t)sizeof(float);
        __m256 a = _mm256_setzero_ps(), b = a;
        for (int64_t t = 0, at = (int64_t)row[0] * items; t < taps; t++, at += items) {
            const __m256 weight = _mm256_castsi256_ps(_mm256_set1_epi32(row[1 + t]));
            a = _mm256_add_ps(a, _mm256_mul_ps(weight, load_pixels(in[0] + at, in[1] + at)));
            b = _mm256_add_ps(b, _mm256_mul_ps(weight, load_pixels(in[2] + at, in[3] + at)));
        }
        _mm_storeu_ps((void *)(out[0] + to), _mm256_castps256_ps128(a));
        _mm_storeu_ps((void *)(out[1] + to), _mm256_extractf128_ps(a, 1));
        _mm_storeu_ps((void *)(out[2] + to), _mm256_castps256_ps128(b));
        _mm_storeu_ps((void *)(out[3] + to), _mm256_extractf128_ps(b, 1));
    }
}

AVX2_TARGET static void columns(const dml_lines_pass *pass, const char *const *in, char *const *out, int64_t begin, int64_t end)
{
    if (pass->items == 3)
        run(pass, in, out, begin, end, 3);
    else
        run(pass, in, out, begin, end, 4);
}

static bool choose_columns(dml_lines_pass *pass)
{
    if (pass->summing.sum->kind != DML_SUM_FLOAT || pass->from != 1 || !pass->weights->inside ||
        (pass->items != 3 && pass->items != 4))
        return false;
    pass->kernel = &dml_lines_floats;
    pass->overreads = pass->items == 3;
    return true;
}

const dml_lines_kernel dml_lines_floats = {
    .name = "floats", .is_supported = dml_lines_have_avx2, .choose_columns = choose_columns, .columns = columns};

#endif
