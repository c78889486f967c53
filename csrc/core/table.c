#include "core/table.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

/* Where an element is. */
typedef struct place {
    const unsigned char *src;
    char *dst;
    const char *row;
} place;

/* Moves by so many indices of an axis; a row has so many bytes. */
static inline void move(place *at, const dml_axis *axis, int64_t row, int64_t by)
{
    at->src += by * axis->src_stride;
    at->dst += by * axis->dst_stride;
    at->row += by * axis->length_stride * row;
}

DML_INLINE size_t number(const unsigned char *src, const int of)
{
    return of == 1 ? *src : src[0] | (size_t)src[1] << 8;
}

/* Elements of `of` bytes by entries of `bytes`, along an axis on which the row stays. Four at a time keep the loads in
 * flight. */
DML_INLINE void look_up_run(const unsigned char *src, ptrdiff_t step, char *dst, ptrdiff_t to, const char *entries,
                            int64_t count, const int of, const size_t bytes)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, src += 4 * step, dst += 4 * to) {
        const char *a = entries + number(src, of) * bytes, *b = entries + number(src + step, of) * bytes;
        const char *c = entries + number(src + 2 * step, of) * bytes, *d = entries + number(src + 3 * step, of) * bytes;
        memcpy(dst, a, bytes);
        memcpy(dst + to, b, bytes);
        memcpy(dst + 2 * to, c, bytes);
        memcpy(dst + 3 * to, d, bytes);
    }
    for (; i < count; i++, src += step, dst += to)
        memcpy(dst, entries + number(src, of) * bytes, bytes);
}

/* look_up_M_N looks up elements of M bytes in entries of N: `count` of them along an axis, for each index of another axis. The
 * compiler has to know N: it then copies an entry by one load and one store. */
#define DEFINE_LOOK_UP(of, name, bytes)                                                                                        \
    static void look_up_##of##_##name(place at, const dml_axis *axis, int64_t count, const dml_axis *other, size_t item)       \
    {                                                                                                                          \
        const dml_axis run = *axis, rows = *other;                                                                             \
        const size_t size = (bytes) > 0 ? (bytes) : item;                                                                      \
        for (int64_t j = 0; j < rows.extent; j++, move(&at, &rows, (int64_t)(size << 8 * (of)), 1)) {                          \
            if (run.dst_stride == (int64_t)size)                                                                               \
                look_up_run(at.src, (ptrdiff_t)run.src_stride, at.dst, (ptrdiff_t)size, at.row, count, of, size);              \
            else                                                                                                               \
                look_up_run(at.src, (ptrdiff_t)run.src_stride, at.dst, (ptrdiff_t)run.dst_stride, at.row, count, of, size);    \
        }                                                                                                                      \
    }

#define DEFINE_LOOK_UPS(name, bytes) DEFINE_LOOK_UP(1, name, bytes) DEFINE_LOOK_UP(2, name, bytes)
DEFINE_LOOK_UPS(1, 1)
DEFINE_LOOK_UPS(2, 2)
DEFINE_LOOK_UPS(4, 4)
DEFINE_LOOK_UPS(8, 8)
DEFINE_LOOK_UPS(any, 0)

typedef void look_up_function(place from, const dml_axis *axis, int64_t count, const dml_axis *other, size_t item);

static look_up_function *function_of(const dml_plan *plan)
{
    const bool one = plan->src_item == 1;
    switch (plan->item) {
    case 1:
        return one ? look_up_1_1 : look_up_2_1;
    case 2:
        return one ? look_up_1_2 : look_up_2_2;
    case 4:
        return one ? look_up_1_4 : look_up_2_4;
    case 8:
        return one ? look_up_1_8 : look_up_2_8;
    default:
        return one ? look_up_1_any : look_up_2_any;
    }
}

/* Looks up the elements of two axes, by runs along the one on which the row stays: the inner one, or the outer one, of which
 * BLOCK indices at a time stay in the cache; else one by one. */
static void look_up(const dml_plan *plan, place from)
{
    enum { BLOCK = 256 };
    const dml_axis *inner = &plan->axes[plan->rank - 1], *outer = inner - 1;
    const bool along_outer = inner->length_stride != 0 && outer->length_stride == 0;
    const dml_axis *run = along_outer ? outer : inner, *others = along_outer ? inner : outer;
    const int64_t row = dml_plan_entry(plan), whole = run->length_stride == 0 ? run->extent : 1;
    const int64_t most = along_outer ? BLOCK : whole;
    look_up_function *const function = function_of(plan);
    for (int64_t i = 0; i < run->extent; i += most) {
        function(from, run, run->extent - i < most ? run->extent - i : most, others, (size_t)plan->item);
        move(&from, run, row, most);
    }
}

/* All axes but the inner two. */
static void run_axis(const dml_plan *plan, int k, place at)
{
    if (k == plan->rank - 2) {
        look_up(plan, at);
        return;
    }
    for (int64_t i = 0; i < plan->axes[k].extent; i++) {
        run_axis(plan, k + 1, at);
        move(&at, &plan->axes[k], dml_plan_entry(plan), 1);
    }
}

void dml_table_run(const dml_plan *plan, const void *src, void *dst)
{
    dml_plan whole;
    dml_plan_copy(&whole, plan);
    while (whole.rank < 2)
        dml_plan_add(&whole, 1, 0, 0);
    place first = {(const unsigned char *)src + whole.src_offset, (char *)dst + whole.dst_offset,
                   (const char *)whole.table + whole.length_offset * dml_plan_entry(&whole)};
    run_axis(&whole, 0, first);
}
