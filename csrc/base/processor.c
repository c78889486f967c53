#include "base/processor.h"

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#include <cpuid.h>
#include <immintrin.h>

/* __builtin_cpu_supports would need data of a run-time library of the compiler, which Zig's clang does not have. */
__attribute__((target("xsave"))) static unsigned long long saved_registers(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) ? (unsigned long long)_xgetbv(0) : 0;
}

static bool all(unsigned long long bits, unsigned long long needed)
{
    return (bits & needed) == needed;
}

static bool has(dml_instructions instructions)
{
    const unsigned long long avx = 0x06, avx512 = 0xe6; /* SSE, AVX; and three kinds of AVX-512 registers */
    const unsigned parts = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c, d;
    if (instructions == DML_SSSE3)
        return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3);
    if (!all(saved_registers(), instructions == DML_AVX2 ? avx : avx512) || !__get_cpuid(1, &a, &b, &c, &d) ||
        !(c & bit_F16C) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    return (b & bit_AVX2) && (instructions < DML_AVX512 || (b & bit_AVX512F)) &&
           (instructions < DML_AVX512_VNNI || (all(b, parts) && (c & bit_AVX512VNNI))) &&
           (instructions < DML_AVX512_VBMI || (c & bit_AVX512VBMI));
}

/* The processor is asked once: where it is virtual, each question takes microseconds. Threads that ask at once agree. */
bool dml_processor_has(dml_instructions instructions)
{
    enum { KNOWN = 1, HAS = 2 };
    static int answers[DML_AVX512_VBMI + 1];
    int answer = __atomic_load_n(&answers[instructions], __ATOMIC_RELAXED);
    if (!answer) {
        answer = has(instructions) ? KNOWN | HAS : KNOWN;
        __atomic_store_n(&answers[instructions], answer, __ATOMIC_RELAXED);
    }
    return answer & HAS;
}
#else
bool dml_processor_has(dml_instructions instructions)
{
    (void)instructions;
    return false;
}
#endif
