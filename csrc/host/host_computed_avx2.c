/* Computed entries by AVX2. */
#include "host/host_computed.h"

#include <stddef.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#include "abi.h"
#include "base/processor.h"

#define TARGET __attribute__((target("avx2,f16c")))
typedef __m256 floats;

DML_INLINE TARGET floats all(float number)
{
    return _mm256_set1_ps(number);
}

DML_INLINE TARGET floats load(const float *from)
{
    return _mm256_loadu_ps(from);
}

DML_INLINE TARGET void to_floats(__m128i bytes, bool is_signed, floats *made)
{
    const __m128i upper = _mm_unpackhi_epi64(bytes, bytes);
    made[0] = _mm256_cvtepi32_ps(is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
    made[1] = _mm256_cvtepi32_ps(is_signed ? _mm256_cvtepi8_epi32(upper) : _mm256_cvtepu8_epi32(upper));
}

DML_INLINE TARGET void store(char *dst, floats x)
{
    _mm256_storeu_ps((void *)dst, x);
}

DML_INLINE TARGET void store_halves(char *dst, floats x)
{
    _mm_storeu_si128((void *)dst, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

#include "host/host_computed_loops.h"

dml_computed_row *dml_computed_row_avx2(int64_t item)
{
    if (!dml_processor_has(DML_AVX2))
        return NULL;
    return item == 2 ? row_2 : row_4;
}

#else

dml_computed_row *dml_computed_row_avx2(int64_t item)
{
    (void)item;
    return NULL;
}

#endif
