/* Looks up elements in the rows of a table. */
#include "host/host_kernel.h"

#include <stddef.h>
#include <string.h>

#include "base/cache.h"

DML_INLINE size_t number(const unsigned char *src, const int of)
{
    return of == 1 ? *src : src[0] | (size_t)src[1] << 8;
}

/* Elements of `of` bytes by entries of `bytes`, along an axis on which the row stays. Four at a time keep the loads in
 * flight. */
DML_INLINE void look_up_row(const unsigned char *src, ptrdiff_t stride, char *dst, ptrdiff_t to, const char *entries,
                            int64_t count, const int of, const size_t bytes)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, src += 4 * stride, dst += 4 * to) {
        const char *a = entries + number(src, of) * bytes, *b = entries + number(src + stride, of) * bytes;
        const char *c = entries + number(src + 2 * stride, of) * bytes, *d = entries + number(src + 3 * stride, of) * bytes;
        memcpy(dst, a, bytes);
        memcpy(dst + to, b, bytes);
        memcpy(dst + 2 * to, c, bytes);
        memcpy(dst + 3 * to, d, bytes);
    }
    for (; i < count; i++, src += stride, dst += to)
        memcpy(dst, entries + number(src, of) * bytes, bytes);
}

/* The rows of a block, along each of which the row of the table stays. */
DML_INLINE void look_up_rows(const dml_host_job *job, const char *src, char *dst, const dml_host_block *block, ptrdiff_t to,
                             const int of, const size_t bytes)
{
    const int64_t rows = block->rows, cols = block->cols, src_stride = job->row.src, dst_stride = job->row.dst;
    const ptrdiff_t stride = (ptrdiff_t)job->col.src, entry = (ptrdiff_t)job->row.entry;
    const char *entries = job->entries + job->entry;
    const bool backwards = stride < 0 && stride > -DML_HOST_LINE;
    for (int64_t row = 0; row < rows; row++, src += src_stride, dst += dst_stride, entries += entry) {
        if (backwards && row + 1 < rows)
            dml_host_ask_for(src + src_stride + (cols - 1) * stride, -(cols - 1) * stride);
        look_up_row((const unsigned char *)src, stride, dst, to, entries, cols, of, bytes);
    }
}

/* `of` and `size` are the bytes of an element and of an entry; 0: the compiler does not know it, else it copies an entry by one
 * load and one store. */
DML_INLINE void look_up(const dml_host_job *job, const char *src, char *dst, const dml_host_block *block, const int of,
                        const size_t size)
{
    const size_t bytes = size > 0 ? size : (size_t)job->item;
    if (job->col.dst == (int64_t)bytes)
        look_up_rows(job, src, dst, block, (ptrdiff_t)bytes, of, bytes);
    else
        look_up_rows(job, src, dst, block, (ptrdiff_t)job->col.dst, of, bytes);
}

#define LOOK_UP(of, size)                                                                                                      \
    static void look_up_##of##_##size(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)              \
    {                                                                                                                          \
        look_up(job, src, dst, block, of, size);                                                                               \
    }

#define SIZES(X, of) X(of, 0) X(of, 1) X(of, 2) X(of, 4) X(of, 8)
SIZES(LOOK_UP, 1)
SIZES(LOOK_UP, 2)

/* --- by a stage ----------------------------------------------------------------------------------------------------- */

enum {
    STAGE = 256 * 1024, /* bytes, which stay in the second or third cache */
    STAGE_ROWS = 64,    /* bytes of the source that lie side by side, a line, or more where there is room; */
    STAGE_COLS = 4096,  /* elements across, at most: mostly whole rows of the result, which then is written without a gap */
    NEAR = 8,           /* bytes: elements that are no further apart share lines */
    FEWEST = 4,         /* elements side by side, */
    LEAST = 4096,       /* and elements of a plan that are worth a stage */
    SHORT = 4,          /* elements: rows of the result that are no longer are slow to look up one by one, */
    BRIEF = 64,         /* and of these each costs a formula as much as a block does; */
    TOGETHER = 8192,    /* so many elements of them are put together, */
    ENOUGH = 512,       /* where a plan has that many */
    WAY = 4096,         /* bytes: lines a multiple of these apart meet in one set of the nearest cache, */
    WAYS = 12           /* which holds so many of them */
};

/* Moves a block of the source into a stage that has the result's order, and looks that up. Where tiles need it, an axis that
 * the source has backwards goes forwards into the stage, and is read backwards there. */
static void look_up_staged(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)
{
    const dml_plan *whole = job->stage.plan;
    dml_plan fill, look;
    dml_plan_begin(&fill, whole->src_item);
    memcpy(&look, whole, offsetof(dml_plan, axes));
    look.rank = 0;
    look.src_offset = look.dst_offset = 0;
    look.entries.offset += job->entry;
    int64_t stride = whole->src_item;
    for (int k = whole->rank - 1; k >= 0; k--) {
        const dml_axis *axis = &whole->axes[k];
        if (!job->taken[k])
            continue;
        int64_t extent = axis->extent;
        if (k == job->stage.row)
            extent = block->rows;
        else if (k == job->stage.col)
            extent = block->cols;
        const int64_t back = axis->src_stride < 0 && job->stage.forwards ? extent - 1 : 0;
        dml_plan_add(&fill, extent, back ? -axis->src_stride : axis->src_stride, stride);
        dml_plan_add(&look, extent, back ? -stride : stride, axis->dst_stride);
        look.axes[look.rank - 1].entry_stride = axis->entry_stride;
        fill.src_offset += back * axis->src_stride;
        look.src_offset += back * stride;
        stride *= extent;
    }
    dml_plan_simplify(&fill);
    dml_plan_simplify(&look);
    job->stage.run(&fill, src, job->stage.memory);
    job->stage.run(&look, job->stage.memory, dst);
}

/* Axes of one side of a stage: all whole but the last. */
typedef struct side {
    int last;
    int64_t extent;       /* of the last */
    int64_t whole, block; /* elements of the others; indices of the last in a block */
} side;

/* Takes one more axis for a side of at most `most` elements; its blocks are about as long as each other. */
static void take_axis(const dml_plan *plan, dml_host_job *job, side *side, int k, int64_t most)
{
    side->last = k;
    side->whole *= side->block;
    side->extent = plan->axes[k].extent;
    side->block = dml_ceil_div(side->extent, dml_ceil_div(side->extent, most / side->whole));
    job->taken[k] = true;
}

/* The axis, not taken, of the smallest stride in the source that is not 0 and at most `most` bytes; -1 if there is none. */
static int nearest(const dml_plan *plan, const bool *taken, int64_t most)
{
    int best = -1;
    for (int k = 0; k < plan->rank; k++) {
        const int64_t stride = dml_magnitude(plan->axes[k].src_stride);
        if (!taken[k] && stride > 0 && stride <= most) {
            best = k;
            most = stride;
        }
    }
    return best;
}

/* Whether rows of the result are short, or the lines of the source that they pass evict each other before the next elements of
 * these lines are read, along one of the axes taken. */
static bool gains_by_stage(const dml_plan *plan, const bool *taken)
{
    const dml_axis *inner = &plan->axes[plan->rank - 1];
    const int64_t fit =
        (int64_t)WAYS * WAY / dml_larger(DML_HOST_LINE, dml_divisor((uint64_t)dml_magnitude(inner->src_stride), WAY));
    int64_t lines = 1;
    for (int k = plan->rank - 1; !taken[k]; k--)
        lines *= plan->axes[k].extent;
    return dml_plan_count(plan) >= LEAST && (inner->extent <= SHORT || lines > fit);
}

/* A stage for a block of two sides; false if there is no memory. */
static bool use_stage(const dml_plan *plan, dml_host_job *job, const side *rows, const side *cols)
{
    const int64_t elements = rows->whole * rows->block * cols->whole * cols->block;
    job->stage.memory = dml_cache_acquire((size_t)(elements * plan->src_item));
    job->stage.plan = plan;
    job->stage.forwards = cols->last >= 0;
    job->stage.row = rows->last;
    job->stage.col = cols->last;
    job->row = dml_host_blocks(plan, job, rows->last, rows->block);
    job->col = dml_host_blocks(plan, job, cols->last, cols->block);
    job->kernel = look_up_staged;
    return job->stage.memory != NULL;
}

/* For axes whose neighbours in the result lie on lines of their own in the source, which other elements share. Rows of the
 * stage are indices of the axes that are nearest in the source, columns those of the inner axes of the result. */
static bool choose_staged(const dml_plan *plan, dml_host_job *job)
{
    side rows = {-1, 1, 1, 1}, cols = rows;
    const int64_t most = STAGE_ROWS / plan->src_item, elements = STAGE / plan->src_item;
    memset(job->taken, 0, sizeof job->taken);
    for (int k = nearest(plan, job->taken, NEAR); k >= 0 && 2 * rows.whole * rows.block <= most;
         k = nearest(plan, job->taken, DML_HOST_LINE))
        take_axis(plan, job, &rows, k, most);
    if (rows.whole * rows.block < FEWEST || !gains_by_stage(plan, job->taken))
        return false;
    for (int k = plan->rank - 1; k >= 0 && 2 * cols.whole * cols.block <= STAGE_COLS; k--)
        if (!job->taken[k])
            take_axis(plan, job, &cols, k, STAGE_COLS);
    rows.block = dml_smaller(rows.extent, elements / (rows.whole * cols.whole * cols.block));
    return use_stage(plan, job, &rows, &cols);
}

/* For a formula whose rows are short, and continue each other in the result but not in the source: they do in a stage. */
static bool choose_together(const dml_plan *plan, dml_host_job *job)
{
    side rows = {-1, 1, 1, 1}, none = rows;
    if (plan->rank < 2)
        return false;
    const dml_axis *inner = &plan->axes[plan->rank - 1], *next = inner - 1;
    if (inner->extent > BRIEF || next->dst_stride != inner->extent * inner->dst_stride ||
        next->src_stride == inner->extent * inner->src_stride || dml_plan_count(plan) < ENOUGH)
        return false;
    memset(job->taken, 0, sizeof job->taken);
    for (int k = plan->rank - 1; k >= 0 && 2 * rows.whole * rows.block <= TOGETHER; k--)
        take_axis(plan, job, &rows, k, TOGETHER);
    return use_stage(plan, job, &rows, &none);
}

/* --- the choice ----------------------------------------------------------------------------------------------------- */

static bool is_far(const dml_plan *plan, int k)
{
    return k >= 0 && dml_magnitude(plan->axes[k].src_stride) > DML_HOST_LINE;
}

static bool is_short(const dml_plan *plan, int k)
{
    return k >= 0 && plan->axes[k].extent <= SHORT;
}

/* Rows of a block lie along an axis on which the row of the table stays: the inner one, or the next, of which BLOCK indices at
 * a time stay in the cache; else they are single elements. */
void dml_host_lookups_choose(const dml_plan *plan, dml_host_job *job)
{
    enum { BLOCK = 256, LARGEST = 8 };
#define KERNEL(of, size) [size] = look_up_##of##_##size,
    static dml_host_kernel *const kernels[2][LARGEST + 1] = {{SIZES(KERNEL, 1)}, {SIZES(KERNEL, 2)}};
    const int inner = plan->rank - 1, next = plan->rank > 1 ? inner - 1 : -1;
    const bool varies = inner >= 0 && plan->axes[inner].entry_stride != 0;
    const bool along_next = varies && next >= 0 && plan->axes[next].entry_stride == 0;
    const int64_t whole = varies ? 1 : INT64_MAX;
    const bool apart = is_far(plan, inner) ? !along_next || is_far(plan, next) : is_short(plan, inner) && is_far(plan, next);
    if (apart && choose_staged(plan, job))
        return;
    if (plan->formula) {
        if (!choose_together(plan, job))
            dml_host_formulas_choose(plan, job);
        return;
    }
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k == inner || k == next;
    job->col = dml_host_blocks(plan, job, along_next ? next : inner, along_next ? BLOCK : whole);
    job->row = dml_host_blocks(plan, job, along_next ? inner : next, INT64_MAX);
    if (dml_host_computed_choose(plan, job))
        return;
    job->entries = (const char *)plan->entries.data + plan->entries.offset;
    dml_host_kernel *const *of = kernels[plan->src_item - 1];
    job->kernel = of[plan->item <= LARGEST && of[plan->item] ? plan->item : 0];
}
