#include "core/table.h"

#include <stddef.h>
#include <string.h>

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

static inline size_t number_1(const unsigned char *src)
{
    return *src;
}

static inline size_t number_2(const unsigned char *src)
{
    return src[0] | (size_t)src[1] << 8;
}

/* look_up_run_M_N looks up elements of M bytes in one row, whose entries have N. Four at a time keep the loads in flight. The
 * compiler has to know N: it then copies an entry by one load and one store. */
#define DEFINE_LOOK_UP_RUN(of, name, bytes)                                                                                    \
    static void look_up_run_##of##_##name(place at, int64_t count, const dml_axis *axis, size_t item)                          \
    {                                                                                                                          \
        const ptrdiff_t step = (ptrdiff_t)axis->src_stride, to = (ptrdiff_t)axis->dst_stride;                                  \
        int64_t i = 0;                                                                                                         \
        (void)item;                                                                                                            \
        for (; i + 4 <= count; i += 4) {                                                                                       \
            const char *a = at.row + number_##of(at.src) * (bytes), *b = at.row + number_##of(at.src + step) * (bytes);        \
            const char *c = at.row + number_##of(at.src + 2 * step) * (bytes);                                                 \
            const char *d = at.row + number_##of(at.src + 3 * step) * (bytes);                                                 \
            memcpy(at.dst, a, bytes);                                                                                          \
            memcpy(at.dst + to, b, bytes);                                                                                     \
            memcpy(at.dst + 2 * to, c, bytes);                                                                                 \
            memcpy(at.dst + 3 * to, d, bytes);                                                                                 \
            at.src += 4 * step;                                                                                                \
            at.dst += 4 * to;                                                                                                  \
        }                                                                                                                      \
        for (; i < count; i++) {                                                                                               \
            memcpy(at.dst, at.row + number_##of(at.src) * (bytes), bytes);                                                     \
            at.src += step;                                                                                                    \
            at.dst += to;                                                                                                      \
        }                                                                                                                      \
    }

#define DEFINE_LOOK_UP_RUNS(name, bytes) DEFINE_LOOK_UP_RUN(1, name, bytes) DEFINE_LOOK_UP_RUN(2, name, bytes)
DEFINE_LOOK_UP_RUNS(1, 1)
DEFINE_LOOK_UP_RUNS(2, 2)
DEFINE_LOOK_UP_RUNS(4, 4)
DEFINE_LOOK_UP_RUNS(8, 8)
DEFINE_LOOK_UP_RUNS(any, item)

typedef void run_function(place at, int64_t count, const dml_axis *axis, size_t item);

static run_function *run_function_of(const dml_plan *plan)
{
    const bool one = plan->src_item == 1;
    switch (plan->item) {
    case 1:
        return one ? look_up_run_1_1 : look_up_run_2_1;
    case 2:
        return one ? look_up_run_1_2 : look_up_run_2_2;
    case 4:
        return one ? look_up_run_1_4 : look_up_run_2_4;
    case 8:
        return one ? look_up_run_1_8 : look_up_run_2_8;
    default:
        return one ? look_up_run_1_any : look_up_run_2_any;
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
    run_function *const function = run_function_of(plan);
    for (int64_t i = 0; i < run->extent; i += most) {
        place at = from;
        for (int64_t j = 0; j < others->extent; j++) {
            function(at, run->extent - i < most ? run->extent - i : most, run, (size_t)plan->item);
            move(&at, others, row, 1);
        }
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
