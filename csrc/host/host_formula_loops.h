/* The loops of formulas. What includes this has defined TARGET, the attribute of its functions, and LOOPS, which declares their
 * table; else it is empty. Each loop is one operation, which compilers make vectors of; none of them fuses two. */
#ifdef LOOPS

#include <math.h>
#include <string.h>

#include "host/host_formulas.h"

/* Types and signs are arguments here, which cannot have parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */

typedef float f32;
typedef double f64;
typedef int32_t i32;
typedef int64_t i64;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;

#define LOOP(name, type, result, expression)                                                                                   \
    TARGET static void name##_##type(void *to, const void *first, const void *second, const void *third, int64_t count)        \
    {                                                                                                                          \
        result *restrict made = to;                                                                                            \
        const type *restrict left = first, *restrict right = second;                                                           \
        (void)right, (void)third;                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                                  \
            const type a = left[i];                                                                                            \
            made[i] = (result)(expression);                                                                                    \
        }                                                                                                                      \
    }
#define B right[i]

/* Integers wrap around; C has that for unsigned ones. */
#define WRAPPED_i32(a, sign, b) (i32)((u32)(a)sign(u32)(b))
#define WRAPPED_i64(a, sign, b) (i64)((u64)(a)sign(u64)(b))

/* By 0 it is 0, and the lowest number by -1 is itself. */
#define QUOTIENT(type)                                                                                                         \
    static inline type quotient_##type(type a, type b)                                                                         \
    {                                                                                                                          \
        if (b == 0 || b == -1)                                                                                                 \
            return b == 0 ? 0 : WRAPPED_##type(0, -, a);                                                                       \
        return a / b - (a % b != 0 && (a < 0) != (b < 0));                                                                     \
    }
QUOTIENT(i32)
QUOTIENT(i64)

/* --- operations ----------------------------------------------------------------------------------------------------- */

#define FLOAT_LOOPS(type, suffix)                                                                                              \
    LOOP(add, type, type, a + B)                                                                                               \
    LOOP(subtract, type, type, a - B)                                                                                          \
    LOOP(multiply, type, type, a *B)                                                                                           \
    LOOP(divide, type, type, a / B)                                                                                            \
    LOOP(minimum, type, type, a < B || a != a ? a : B)                                                                         \
    LOOP(maximum, type, type, a > B || a != a ? a : B)                                                                         \
    LOOP(negative, type, type, -a)                                                                                             \
    LOOP(absolute, type, type, fabs##suffix(a))                                                                                \
    LOOP(sqrt, type, type, sqrt##suffix(a))                                                                                    \
    LOOP(floor, type, type, floor##suffix(a))                                                                                  \
    LOOP(ceil, type, type, ceil##suffix(a))                                                                                    \
    LOOP(trunc, type, type, trunc##suffix(a))                                                                                  \
    LOOP(rint, type, type, rint##suffix(a))
FLOAT_LOOPS(f32, f)
FLOAT_LOOPS(f64, )

#define INTEGER_LOOPS(type)                                                                                                    \
    LOOP(add, type, type, WRAPPED_##type(a, +, B))                                                                             \
    LOOP(subtract, type, type, WRAPPED_##type(a, -, B))                                                                        \
    LOOP(multiply, type, type, WRAPPED_##type(a, *, B))                                                                        \
    LOOP(divide, type, type, quotient_##type(a, B))                                                                            \
    LOOP(minimum, type, type, a < B ? a : B)                                                                                   \
    LOOP(maximum, type, type, a > B ? a : B)                                                                                   \
    LOOP(and, type, type, a &B)                                                                                                \
    LOOP(or, type, type, a | B)                                                                                                \
    LOOP(xor, type, type, a ^ B)                                                                                               \
    LOOP(negative, type, type, WRAPPED_##type(0, -, a))                                                                        \
    LOOP(absolute, type, type, a < 0 ? WRAPPED_##type(0, -, a) : a)
INTEGER_LOOPS(i32)
INTEGER_LOOPS(i64)

#define OTHER_LOOPS(type)                                                                                                      \
    LOOP(raise, type, type, a < B ? B : a)                                                                                     \
    LOOP(lower, type, type, a > B ? B : a)                                                                                     \
    LOOP(less, type, i32, a < B)                                                                                               \
    LOOP(less_equal, type, i32, a <= B)                                                                                        \
    LOOP(greater, type, i32, a > B)                                                                                            \
    LOOP(greater_equal, type, i32, a >= B)                                                                                     \
    LOOP(equal, type, i32, a == B)                                                                                             \
    LOOP(not_equal, type, i32, a != B)                                                                                         \
    TARGET static void where_##type(void *to, const void *first, const void *second, const void *third, int64_t count)         \
    {                                                                                                                          \
        type *restrict made = to;                                                                                              \
        const i32 *restrict chosen = first;                                                                                    \
        const type *restrict left = second, *restrict right = third;                                                           \
        for (int64_t i = 0; i < count; i++) {                                                                                  \
            const type a = left[i], b = right[i];                                                                              \
            made[i] = chosen[i] ? a : b;                                                                                       \
        }                                                                                                                      \
    }
OTHER_LOOPS(f32)
OTHER_LOOPS(f64)
OTHER_LOOPS(i32)
OTHER_LOOPS(i64)

/* --- casts ---------------------------------------------------------------------------------------------------------- */

/* What an integer cannot be becomes the lowest one, as x86's processors have it. Python asks whether NumPy does so, too. */
#define WHOLE(type, lowest) a >= (lowest) && a < -(lowest) ? (type)a : (type)(lowest)

LOOP(to_f64, f32, f64, a)
LOOP(to_i32, f32, i32, WHOLE(i32, -0x1p31F))
LOOP(to_i64, f32, i64, WHOLE(i64, -0x1p63F))
LOOP(to_f32, f64, f32, a)
LOOP(to_i32, f64, i32, WHOLE(i32, -0x1p31))
LOOP(to_i64, f64, i64, WHOLE(i64, -0x1p63))
LOOP(to_f32, i32, f32, a)
LOOP(to_f64, i32, f64, a)
LOOP(to_i64, i32, i64, a)
LOOP(to_f32, i64, f32, a)
LOOP(to_f64, i64, f64, a)
LOOP(to_i32, i64, i32, (u32)(u64)a)

/* A float as the nearest float16, or even, of 16 bits; a NaN keeps the upper bits of its payload, or gets one. */
static inline u32 half_of(u32 bits)
{
    const u32 sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
    const u32 payload = magnitude >> 13 & 0x3FF;
    const u32 nan = 0x7C00 | (payload ? payload : 1);
    const u32 normal = (magnitude + 0xFFF + (magnitude >> 13 & 1) - 0x38000000) >> 13;
    /* Added to a number whose last bit is that of the smallest float16, what is below 2**-14 is rounded there. */
    f32 small, one = 0.5F;
    memcpy(&small, &magnitude, sizeof small);
    small += one;
    u32 tiny;
    memcpy(&tiny, &small, sizeof tiny);
    tiny -= 0x3F000000;
    const u32 finite = magnitude < 0x38800000 ? tiny : normal;
    const u32 large = magnitude > 0x7F800000 ? nan : 0x7C00;
    return sign | (magnitude < 0x477FF000 ? finite : large);
}

static inline f32 float_of(u32 half)
{
    const u32 sign = (half & 0x8000) << 16, magnitude = half & 0x7FFF;
    const u32 other = (magnitude << 13) + (magnitude < 0x7C00 ? 0x38000000 : 0x70000000);
    f32 made = (f32)magnitude * 0x1p-24F;
    u32 bits;
    memcpy(&bits, &made, sizeof bits);
    bits = sign | (magnitude < 0x400 ? bits : other);
    memcpy(&made, &bits, sizeof made);
    return made;
}

/* Processors make a NaN quiet that signals when they convert it. */
static inline f64 double_of(u32 bits)
{
    const u64 sign = (u64)(bits >> 31) << 63, payload = bits & 0x7FFFFF;
    const u64 nan = sign | (u64)0x7FF << 52 | payload << 29;
    f32 value;
    memcpy(&value, &bits, sizeof value);
    f64 made = value;
    u64 wide;
    memcpy(&wide, &made, sizeof wide);
    wide = (bits & 0x7FFFFFFF) > 0x7F800000 ? nan : wide;
    memcpy(&made, &wide, sizeof made);
    return made;
}

LOOP(widen, u32, f64, double_of(a))
LOOP(narrow_u8, i32, i32, (u8)a)
LOOP(narrow_i8, i32, i32, (i8)a)
LOOP(narrow_u16, i32, i32, (u16)a)
LOOP(narrow_i16, i32, i32, (i16)a)
LOOP(narrow_u32, i64, i64, (u32)a)
LOOP(narrow_f16, u32, f32, float_of(half_of(a)))
LOOP(load, u8, i32, a)
LOOP(load, i8, i32, a)
LOOP(load, u16, i32, a)
LOOP(load, i16, i32, a)
LOOP(load, u32, i64, a)
LOOP(load_f16, u16, f32, float_of(a))
LOOP(store_8, i32, u8, a)
LOOP(store_16, i32, u16, a)
LOOP(store_32, i64, u32, a)
LOOP(store_f16, u32, u16, half_of(a))

#ifdef GATHERS /* shuffles of vectors, where there are fast ones; elsewhere plain loads are faster */
#define GATHER(apart)                                                                                                          \
    TARGET static void gather_##apart(void *to, const void *first, const void *second, const void *third, int64_t count)       \
    {                                                                                                                          \
        u32 *restrict made = to;                                                                                               \
        const u32 *restrict left = first;                                                                                      \
        (void)second, (void)third;                                                                                             \
        for (int64_t i = 0; i < count; i++)                                                                                    \
            made[i] = left[apart * i];                                                                                         \
    }
GATHER(3)
GATHER(4)
#else
#define GATHERS .gathers = {NULL}
#endif

#define FOR_FLOATS(name) {name##_f32, name##_f64, NULL, NULL}
#define FOR_INTEGERS(name) {NULL, NULL, name##_i32, name##_i64}
#define FOR_ALL(name) {name##_f32, name##_f64, name##_i32, name##_i64}

LOOPS = {
    GATHERS,
    .operations = {[DML_DO_WIDEN] = {[DML_F64] = widen_u32},
                   [DML_DO_WHERE] = FOR_ALL(where),
                   [DML_DO_ADD] = FOR_ALL(add),
                   [DML_DO_SUBTRACT] = FOR_ALL(subtract),
                   [DML_DO_MULTIPLY] = FOR_ALL(multiply),
                   [DML_DO_DIVIDE] = FOR_ALL(divide),
                   [DML_DO_MINIMUM] = FOR_ALL(minimum),
                   [DML_DO_MAXIMUM] = FOR_ALL(maximum),
                   [DML_DO_RAISE] = FOR_ALL(raise),
                   [DML_DO_LOWER] = FOR_ALL(lower),
                   [DML_DO_LESS] = FOR_ALL(less),
                   [DML_DO_LESS_EQUAL] = FOR_ALL(less_equal),
                   [DML_DO_GREATER] = FOR_ALL(greater),
                   [DML_DO_GREATER_EQUAL] = FOR_ALL(greater_equal),
                   [DML_DO_EQUAL] = FOR_ALL(equal),
                   [DML_DO_NOT_EQUAL] = FOR_ALL(not_equal),
                   [DML_DO_AND] = FOR_INTEGERS(and),
                   [DML_DO_OR] = FOR_INTEGERS(or),
                   [DML_DO_XOR] = FOR_INTEGERS(xor),
                   [DML_DO_NEGATIVE] = FOR_ALL(negative),
                   [DML_DO_ABSOLUTE] = FOR_ALL(absolute),
                   [DML_DO_SQRT] = FOR_FLOATS(sqrt),
                   [DML_DO_FLOOR] = FOR_FLOATS(floor),
                   [DML_DO_CEIL] = FOR_FLOATS(ceil),
                   [DML_DO_TRUNC] = FOR_FLOATS(trunc),
                   [DML_DO_RINT] = FOR_FLOATS(rint)},
    .casts = {[DML_F32] = {[DML_F64] = to_f64_f32, [DML_I32] = to_i32_f32, [DML_I64] = to_i64_f32},
              [DML_F64] = {[DML_F32] = to_f32_f64, [DML_I32] = to_i32_f64, [DML_I64] = to_i64_f64},
              [DML_I32] = {[DML_F32] = to_f32_i32, [DML_F64] = to_f64_i32, [DML_I64] = to_i64_i32},
              [DML_I64] = {[DML_F32] = to_f32_i64, [DML_F64] = to_f64_i64, [DML_I32] = to_i32_i64}},
    .narrows = {[DML_IN_U8] = narrow_u8_i32,
                [DML_IN_I8] = narrow_i8_i32,
                [DML_IN_U16] = narrow_u16_i32,
                [DML_IN_I16] = narrow_i16_i32,
                [DML_IN_U32] = narrow_u32_i64,
                [DML_IN_F16] = narrow_f16_u32},
    .loads = {[DML_IN_U8] = load_u8,
              [DML_IN_I8] = load_i8,
              [DML_IN_U16] = load_u16,
              [DML_IN_I16] = load_i16,
              [DML_IN_U32] = load_u32,
              [DML_IN_F16] = load_f16_u16},
    .stores = {[DML_IN_U8] = store_8_i32,
               [DML_IN_I8] = store_8_i32,
               [DML_IN_U16] = store_16_i32,
               [DML_IN_I16] = store_16_i32,
               [DML_IN_U32] = store_32_i64,
               [DML_IN_F16] = store_f16_u32},
};
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
