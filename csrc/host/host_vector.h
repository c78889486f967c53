/* Vectors of 16 bytes: SSE2 or NEON. Without these DML_VECTORS is not defined. */
#ifndef DML_HOST_HOST_VECTOR_H
#define DML_HOST_HOST_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define DML_VECTORS
typedef __m128i dml_vector;

/* Items of `item` bytes of a and b by turns: a0 b0 a1 b1 ..., of the lower and the upper halves. */
DML_INLINE dml_vector dml_zip_low(dml_vector a, dml_vector b, const int item)
{
    if (item == 1)
        return _mm_unpacklo_epi8(a, b);
    if (item == 2)
        return _mm_unpacklo_epi16(a, b);
    return item == 4 ? _mm_unpacklo_epi32(a, b) : _mm_unpacklo_epi64(a, b);
}

DML_INLINE dml_vector dml_zip_high(dml_vector a, dml_vector b, const int item)
{
    if (item == 1)
        return _mm_unpackhi_epi8(a, b);
    if (item == 2)
        return _mm_unpackhi_epi16(a, b);
    return item == 4 ? _mm_unpackhi_epi32(a, b) : _mm_unpackhi_epi64(a, b);
}

#elif defined(__GNUC__) && defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define DML_VECTORS
typedef uint8x16_t dml_vector;

DML_INLINE dml_vector dml_zip_low(dml_vector a, dml_vector b, const int item)
{
    if (item == 1)
        return vzip1q_u8(a, b);
    if (item == 2)
        return vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    if (item == 4)
        return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    return vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
}

DML_INLINE dml_vector dml_zip_high(dml_vector a, dml_vector b, const int item)
{
    if (item == 1)
        return vzip2q_u8(a, b);
    if (item == 2)
        return vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    if (item == 4)
        return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    return vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
}
#endif

#ifdef DML_VECTORS
DML_INLINE dml_vector dml_load(const void *src)
{
    dml_vector vector;
    memcpy(&vector, src, sizeof vector);
    return vector;
}

DML_INLINE void dml_store(char *dst, dml_vector vector)
{
    memcpy(dst, &vector, sizeof vector);
}

/* Stores the first `bytes`, 1 to 16: by two words that overlap. */
DML_INLINE void dml_store_first(char *dst, dml_vector vector, int64_t bytes)
{
    const unsigned size = (unsigned)bytes % 16;
    char from[16];
    memcpy(from, &vector, 16);
    if (size == 0) {
        dml_store(dst, vector);
    } else if (size >= 8) {
        memcpy(dst, from, 8);
        memcpy(dst + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(dst, from, 4);
        memcpy(dst + size - 4, from + size - 4, 4);
    } else {
        dst[0] = from[0];
        dst[size / 2] = from[size / 2];
        dst[size - 1] = from[size - 1];
    }
}
#endif

#endif
