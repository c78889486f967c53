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

/* Moves by so many indices of an axis. */
static inline void move(place *at, const dml_axis *axis, int64_t by)
{
    at->src += by * axis->src_stride;
    at->dst += by * axis->dst_stride;
    at->row += by * axis->entry_stride;
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

/* The inner axes of a plan: the one that is gone along, on which the row stays, and those outside of it. */
typedef struct axes {
    const dml_axis *run, *rows, *outer;
} axes;

/* look_up_M_N looks up elements of M bytes in entries of N: `count` of them along a run, for each index of the other axes. The
 * compiler has to know N: it then copies an entry by one load and one store. */
#define DEFINE_LOOK_UP(of, name, bytes)                                                                                        \
    static void look_up_##of##_##name(const axes *axes, place from, int64_t count, size_t item)                                \
    {                                                                                                                          \
        const dml_axis run = *axes->run, rows = *axes->rows, outer = *axes->outer;                                             \
        const size_t size = (bytes) > 0 ? (bytes) : item;                                                                      \
        for (int64_t i = 0; i < outer.extent; i++, move(&from, &outer, 1)) {                                                   \
            place at = from;                                                                                                   \
            for (int64_t j = 0; j < rows.extent; j++, move(&at, &rows, 1)) {                                                   \
                if (run.dst_stride == (int64_t)size)                                                                           \
                    look_up_run(at.src, (ptrdiff_t)run.src_stride, at.dst, (ptrdiff_t)size, at.row, count, of, size);          \
                else                                                                                                           \
                    look_up_run(at.src, (ptrdiff_t)run.src_stride, at.dst, (ptrdiff_t)run.dst_stride, at.row, count, of,       \
                                size);                                                                                         \
            }                                                                                                                  \
        }                                                                                                                      \
    }

#define DEFINE_LOOK_UPS(name, bytes) DEFINE_LOOK_UP(1, name, bytes) DEFINE_LOOK_UP(2, name, bytes)
DEFINE_LOOK_UPS(1, 1)
DEFINE_LOOK_UPS(2, 2)
DEFINE_LOOK_UPS(4, 4)
DEFINE_LOOK_UPS(8, 8)
DEFINE_LOOK_UPS(any, 0)

typedef void look_up_function(const axes *axes, place from, int64_t count, size_t item);

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

/* Looks up the elements of three axes, by runs along one on which the row stays: the inner one, or the next, of which BLOCK
 * indices at a time stay in the cache; else one by one. */
static void look_up(const dml_plan *plan, place from)
{
    enum { BLOCK = 256 };
    const dml_axis *inner = &plan->axes[plan->rank - 1], *next = inner - 1;
    const bool along_next = inner->entry_stride != 0 && next->entry_stride == 0;
    const axes axes = {along_next ? next : inner, along_next ? inner : next, inner - 2};
    const int64_t extent = axes.run->extent, whole = axes.run->entry_stride == 0 ? extent : 1;
    const int64_t most = along_next ? BLOCK : whole;
    look_up_function *const function = function_of(plan);
    for (int64_t i = 0; i < extent; i += most) {
        function(&axes, from, extent - i < most ? extent - i : most, (size_t)plan->item);
        move(&from, axes.run, most);
    }
}

/* All axes but the inner three. */
static void run_axis(const dml_plan *plan, int k, place at)
{
    if (k == plan->rank - 3) {
        look_up(plan, at);
        return;
    }
    for (int64_t i = 0; i < plan->axes[k].extent; i++) {
        run_axis(plan, k + 1, at);
        move(&at, &plan->axes[k], 1);
    }
}

void dml_table_run(const dml_plan *plan, const void *src, void *dst)
{
    dml_plan whole;
    dml_plan_copy(&whole, plan);
    const int more = whole.rank < 3 ? 3 - whole.rank : 0; /* axes of one index, outside */
    memmove(&whole.axes[more], whole.axes, (size_t)whole.rank * sizeof whole.axes[0]);
    for (int k = 0; k < more; k++)
        whole.axes[k] = (dml_axis){.extent = 1};
    whole.rank += more;
    place first = {(const unsigned char *)src + whole.src_offset, (char *)dst + whole.dst_offset,
                   (const char *)whole.entries.data + whole.entries.offset};
    run_axis(&whole, 0, first);
}
