/* AVX2, for the kernels of passes that have it. */
#ifndef DML_HOST_HOST_AVX2_H
#define DML_HOST_HOST_AVX2_H

#include "host/host_lanes.h"

#ifdef DML_LINES_X86

#include <immintrin.h>

/* Each function begins with a cache line: else its loops lie elsewhere in theirs whenever code in front of it changes, by which
 * some take a fifth longer. */
#define AVX2_TARGET __attribute__((target("avx2"), aligned(64)))
#define AVX2_INLINE static inline AVX2_TARGET __attribute__((always_inline))

/* 16 bytes of a line from each of two places on, as the two lanes of a vector. */
AVX2_INLINE __m256i dml_avx2_lanes(const char *line, int64_t first, int64_t second)
{
    const __m128i low = _mm_loadu_si128((const void *)(line + first)), high = _mm_loadu_si128((const void *)(line + second));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* To 4 products of bytes and words for each sum of 32 bits: of even bytes and their weights, and of odd ones. */
AVX2_INLINE __m256i dml_avx2_products(__m256i bytes, const __m256i weights[2])
{
    const __m256i even = _mm256_madd_epi16(_mm256_and_si256(bytes, _mm256_set1_epi16(255)), weights[0]);
    return _mm256_add_epi32(even, _mm256_madd_epi16(_mm256_srli_epi16(bytes, 8), weights[1]));
}

#endif

#endif
