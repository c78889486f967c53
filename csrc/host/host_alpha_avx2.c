/* AVX2: channels of pixels of four bytes times the last one, and divided by it. */
#include "host/host_avx2.h"

#ifdef DML_LINES_X86

#include <string.h>

enum { PIXELS = 8, PIXEL = 4 };

/* Of four pixels as words. */
AVX2_INLINE __m256i multiplied(__m256i words)
{
    const __m256i alpha = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(words, 0xFF), 0xFF);
    const __m256i product = _mm256_add_epi16(_mm256_mullo_epi16(words, alpha), _mm256_set1_epi16(128));
    return _mm256_srli_epi16(_mm256_add_epi16(product, _mm256_srli_epi16(product, 8)), 8);
}

AVX2_INLINE __m256i multiply(__m256i pixels)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = multiplied(_mm256_unpacklo_epi8(pixels, zero)), high = multiplied(_mm256_unpackhi_epi8(pixels, zero));
    return _mm256_packus_epi16(low, high);
}

/* One channel of eight pixels. A quotient of floats is never rounded up to an integer: it is less than 2**16, and a fraction of
 * 255 parts at most. */
AVX2_INLINE __m256i divided(__m256i pixels, int channel, __m256 alpha)
{
    const __m256i value = _mm256_and_si256(_mm256_srli_epi32(pixels, 8 * channel), _mm256_set1_epi32(255));
    const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(value), _mm256_set1_ps(255.0F));
    const __m256i quotient = _mm256_cvttps_epi32(_mm256_div_ps(scaled, alpha));
    return _mm256_slli_epi32(_mm256_min_epi32(quotient, _mm256_set1_epi32(255)), 8 * channel);
}

AVX2_INLINE __m256i divide(__m256i pixels)
{
    const __m256i whole = _mm256_srli_epi32(pixels, 24), none = _mm256_cmpeq_epi32(whole, _mm256_setzero_si256());
    const __m256 alpha = _mm256_cvtepi32_ps(whole);
    const __m256i made =
        _mm256_or_si256(divided(pixels, 0, alpha), _mm256_or_si256(divided(pixels, 1, alpha), divided(pixels, 2, alpha)));
    return _mm256_blendv_epi8(made, pixels, none);
}

AVX2_INLINE void run(const unsigned char *in, unsigned char *out, int64_t pixels, const bool multiplies)
{
    const __m256i alphas = _mm256_set1_epi32((int32_t)0xFF000000);
    for (int64_t at = 0; at < pixels; at += PIXELS) {
        const size_t bytes = (size_t)(pixels - at < PIXELS ? pixels - at : PIXELS) * PIXEL;
        unsigned char some[PIXELS * PIXEL] = {0};
        const bool whole = bytes == sizeof some;
        if (!whole)
            memcpy(some, in + at * PIXEL, bytes);
        const __m256i x = _mm256_loadu_si256((const void *)(whole ? in + at * PIXEL : some));
        const __m256i y = _mm256_blendv_epi8(multiplies ? multiply(x) : divide(x), x, alphas);
        _mm256_storeu_si256((void *)(whole ? out + at * PIXEL : some), y);
        if (!whole)
            memcpy(out + at * PIXEL, some, bytes);
    }
}

AVX2_TARGET void dml_alpha_avx2(const unsigned char *in, unsigned char *out, int64_t pixels, bool multiplies)
{
    if (multiplies)
        run(in, out, pixels, true);
    else
        run(in, out, pixels, false);
}

#endif
