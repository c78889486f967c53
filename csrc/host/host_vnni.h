/* AVX-512 with VNNI. A weight is three signed digits of 8 bits; an instruction adds 4 products of a digit and a byte to each
 * sum, of which there is one for each digit. All wrap, but for the total of the three. */
#ifndef DML_HOST_HOST_VNNI_H
#define DML_HOST_HOST_VNNI_H

#include "base/compiler.h"
#include "host/host_lanes.h"

#ifdef DML_LINES_X86

#include <immintrin.h>

#define VNNI_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni" DML_EVEX512)))
#define VNNI_INLINE static inline VNNI_TARGET __attribute__((always_inline))

enum { DML_DIGITS = 3, DML_VNNI_BYTES = 64 }; /* of a weight; of a vector */

/* Of each digit. */
typedef struct {
    __m512i low, middle, high;
} dml_vnni_sums;

VNNI_INLINE __m512i dml_vnni_total(const dml_vnni_sums *sums)
{
    const __m512i upper = _mm512_add_epi32(sums->middle, _mm512_slli_epi32(sums->high, 8));
    return _mm512_add_epi32(sums->low, _mm512_slli_epi32(upper, 8));
}

/* _mm512_dpbusd_epi32, of which GCC copies each sum twice; hence NOLINT. */
VNNI_INLINE void dml_vnni_add_digits(__m512i *sum, __m512i bytes, __m512i digits)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(bytes), "v"(digits)); /* NOLINT(portability-no-assembler) */
}

VNNI_INLINE void dml_vnni_add(dml_vnni_sums *sums, __m512i bytes, __m512i low, __m512i middle, __m512i high)
{
    dml_vnni_add_digits(&sums->low, bytes, low);
    dml_vnni_add_digits(&sums->middle, bytes, middle);
    dml_vnni_add_digits(&sums->high, bytes, high);
}

/* The digits of 4 weights, weights along rows, and the pass along them. */
void dml_vnni_encode(const int32_t *weights, uint32_t *words);
void *dml_vnni_pack_rows(const dml_weights *weights, int64_t items);
void dml_vnni_rows(const dml_lines_pass *pass, const dml_sum_inputs *in, int64_t output, char *out, int64_t count);

#endif

#endif
