/* What kernels in C ask of a compiler beyond the standard. */
#ifndef DML_BASE_COMPILER_H
#define DML_BASE_COMPILER_H

/* DML_INLINE: a function whose constant arguments are to be constants inside it. DML_UNROLL: of the loop that follows, so that
 * an array of vectors which it indexes stays in registers. DML_VECTORIZE: a function whose loops are to be of vectors, also
 * where the compiler does not see how often they run. DML_SET: several threads may set a flag at once.
 * DML_OUTLINE: a function whose loops have the registers to themselves. DML_PREFETCH: of a line of the cache, which need not be
 * readable. DML_EVEX512: what a target of AVX-512 ends with, as some versions of clang take vectors of 512 bits only where it
 * is named. */
#if defined(__clang__) && __clang_major__ >= 18 && __clang_major__ < 22
#define DML_EVEX512 ",evex512"
#else
#define DML_EVEX512 ""
#endif
#if defined(__GNUC__)
#define DML_INLINE static inline __attribute__((always_inline))
#define DML_OUTLINE static __attribute__((noinline))
#define DML_UNROLL _Pragma("GCC unroll 16")
#define DML_SET(flag) __atomic_store_n(flag, true, __ATOMIC_RELAXED)
#define DML_PREFETCH(address) __builtin_prefetch(address)
#if defined(__clang__)
#define DML_VECTORIZE
#else
#define DML_VECTORIZE __attribute__((optimize("O3")))
#endif
#else
#define DML_INLINE static inline
#define DML_OUTLINE static
#define DML_VECTORIZE
#define DML_UNROLL
#define DML_SET(flag) (void)(*(volatile bool *)(flag) = true)
#define DML_PREFETCH(address) (void)(address)
#endif

#endif
