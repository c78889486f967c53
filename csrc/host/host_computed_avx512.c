/* Computed entries by AVX-512. */
#include "host/host_computed.h"

#include <stddef.h>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#include "abi.h"
#include "base/compiler.h"
#include "base/processor.h"

#define TARGET __attribute__((target("avx512f" DML_EVEX512)))
typedef __m512 floats;

DML_INLINE TARGET floats all(float number)
{
    return _mm512_set1_ps(number);
}

DML_INLINE TARGET floats load(const float *from)
{
    return _mm512_loadu_ps(from);
}

DML_INLINE TARGET void to_floats(__m128i bytes, bool is_signed, floats *made)
{
    *made = _mm512_cvtepi32_ps(is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
}

DML_INLINE TARGET void store(char *dst, floats x)
{
    _mm512_storeu_ps((void *)dst, x);
}

DML_INLINE TARGET void store_halves(char *dst, floats x)
{
    _mm256_storeu_si256((void *)dst, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

#include "host/host_computed_loops.h"

dml_computed_row *dml_computed_row_avx512(int64_t item)
{
    if (!dml_processor_has(DML_AVX512))
        return NULL;
    return item == 2 ? row_2 : row_4;
}

#else

dml_computed_row *dml_computed_row_avx512(int64_t item)
{
    (void)item;
    return NULL;
}

#endif
