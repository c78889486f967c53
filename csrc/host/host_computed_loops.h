/* The loops of computed entries. What includes this has defined TARGET, the attribute of its functions, `floats`, a vector of
 * them, and functions that make these and store them: to_floats, store and store_halves; else it is empty. */
#ifdef TARGET

static const int64_t lanes = sizeof(floats) / sizeof(float);

/* Bytes that lie apart, by `count` loads within those bytes. */
DML_INLINE TARGET __m128i together(const dml_host_computed *by, const char *src, const int count)
{
    __m128i bytes = _mm_setzero_si128();
    DML_UNROLL
    for (int i = 0; i < count; i++) {
        const __m128i window = _mm_loadu_si128((const void *)(src + by->offsets[i]));
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(window, _mm_loadu_si128((const void *)by->masks[i])));
    }
    return bytes;
}

#define EACH(expression)                                                                                                       \
    DML_UNROLL                                                                                                                 \
    for (int i = 0; i < count; i++) {                                                                                          \
        const floats by = constants ? all(constants[step]) : load(turns[step] + i * lanes);                                    \
        x[i] = expression;                                                                                                     \
    }                                                                                                                          \
    break

/* Of `count` vectors; `constants` or `turns` is NULL. */
DML_INLINE TARGET void operate(floats *x, const int64_t count, uint32_t operations, const float *constants,
                               const float (*turns)[DML_HOST_TURNS])
{
    for (int step = 0; operations & 15; operations >>= 4, step++)
        switch (operations & 15) {
        case DML_OPERATION_ADD:
            EACH(x[i] + by);
        case DML_OPERATION_SUBTRACT:
            EACH(x[i] - by);
        case DML_OPERATION_SUBTRACT_FROM:
            EACH(by - x[i]);
        case DML_OPERATION_MULTIPLY:
            EACH(x[i] * by);
        case DML_OPERATION_DIVIDE:
            EACH(x[i] / by);
        default:
            EACH(by / x[i]);
        }
}

/* The last elements are computed with some before them, whose entries are written twice. Where constants come by turns, a block
 * still begins with the first of them, as the elements before it are whole turns. */
DML_INLINE TARGET void compute(const dml_host_computed *by, const char *src, char *dst, const float *constants, int64_t count,
                               const int windows, const int item, const bool turns)
{
    const bool is_signed = by->operations & DML_OPERATION_SIGNED;
    const uint32_t operations = by->operations & (DML_OPERATION_SIGNED - 1);
    const int64_t block = turns ? DML_HOST_TURNS : DML_COMPUTED, vectors = block / lanes;
    for (int64_t at = 0;; at = at + 2 * block <= count ? at + block : count - block) {
        floats x[DML_HOST_TURNS * sizeof(float) / sizeof(floats)];
        DML_UNROLL
        for (int i = 0; i < block; i += DML_HOST_VECTOR) {
            const char *from = src + (at + i) * by->group / DML_HOST_VECTOR;
            to_floats(together(by, from, windows), is_signed, x + i / lanes);
        }
        operate(x, vectors, operations, turns ? NULL : constants, by->turns);
        DML_UNROLL
        for (int i = 0; i < vectors; i++) {
            if (item == 4)
                store(dst + (at + i * lanes) * item, x[i]);
            else
                store_halves(dst + (at + i * lanes) * item, x[i]);
        }
        if (at + block >= count)
            return;
    }
}

#define WINDOWS(X, item) X(1, item) X(2, item) X(3, item) X(4, item) X(5, item) X(6, item)
#define CASE(windows, item)                                                                                                    \
    case windows:                                                                                                              \
        compute(by, src, dst, constants, count, windows, item, false);                                                         \
        break;
#define ROW(item)                                                                                                              \
    TARGET static void row_##item(const dml_host_computed *by, const char *src, char *dst, const float *constants,             \
                                  int64_t count)                                                                               \
    {                                                                                                                          \
        switch (by->by_turns ? 0 : by->windows) {                                                                              \
            WINDOWS(CASE, item)                                                                                                \
        default:                                                                                                               \
            compute(by, src, dst, constants, count, 1, item, true);                                                            \
        }                                                                                                                      \
    }
ROW(2)
ROW(4)

#endif
