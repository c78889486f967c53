#include "host/host_kernel.h"

#include <stddef.h>
#include <string.h>

#include "base/cache.h"

/* --- items one by one, whatever the strides are --------------------------------------------------------------------- */

typedef struct bytes16 {
    char bytes[16];
} bytes16;

/* A few loads of 16 bytes, which may overlap; all come before the first store. */
DML_INLINE void move_overlapping(char *dst, const char *src, int64_t item)
{
    bytes16 a, b, c, d;
    memcpy(&a, src, sizeof a);
    memcpy(&d, src + item - 16, sizeof d);
    if (item > 32) {
        memcpy(&b, src + 16, sizeof b);
        memcpy(&c, src + item - 32, sizeof c);
        memcpy(dst + 16, &b, sizeof b);
        memcpy(dst + item - 32, &c, sizeof c);
    }
    memcpy(dst, &a, sizeof a);
    memcpy(dst + item - 16, &d, sizeof d);
}

/* `size` is that of an item where the compiler is to know it, else 0. */
DML_INLINE void move_item(char *dst, const char *src, const int size, int64_t item)
{
    if (size > 0)
        memcpy(dst, src, (size_t)size);
    else if (item > 16 && item <= 64)
        move_overlapping(dst, src, item);
    else
        memcpy(dst, src, (size_t)item);
}

DML_INLINE void items(const dml_host_job *job, const char *src, char *dst, const dml_host_block *block, const int size)
{
    const int64_t item = job->item, cols = block->cols, s = job->col.src, d = job->col.dst;
    for (int64_t row = 0; row < block->rows; row++) {
        const char *from = src + row * job->row.src;
        char *to = dst + row * job->row.dst;
        int64_t col = 0;
        for (; col + 4 <= cols; col += 4, from += 4 * s, to += 4 * d) {
            move_item(to, from, size, item);
            move_item(to + d, from + s, size, item);
            move_item(to + 2 * d, from + 2 * s, size, item);
            move_item(to + 3 * d, from + 3 * s, size, item);
        }
        for (; col < cols; col++, from += s, to += d)
            move_item(to, from, size, item);
    }
}

#define ITEMS(size)                                                                                                            \
    static void items_##size(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)                       \
    {                                                                                                                          \
        items(job, src, dst, block, size);                                                                                     \
    }

/* 0: all other sizes. */
#define SIZES(X) X(0) X(1) X(2) X(3) X(4) X(6) X(8) X(12) X(16)
SIZES(ITEMS)

/* Each row is one item again and again. What is there is doubled, up to what the nearest cache holds. */
static void repeat(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)
{
    const int64_t item = job->item, bytes = item * block->cols, most = dml_larger(item, 8192 / item * item);
    for (int64_t row = 0; row < block->rows; row++) {
        char *to = dst + row * job->row.dst;
        memcpy(to, src + row * job->row.src, (size_t)item);
        for (int64_t done = item, size; done < bytes; done += size) {
            size = dml_smaller(dml_smaller(done, most), bytes - done);
            memcpy(to + done, to, (size_t)size);
        }
    }
}

static dml_host_kernel *kernel_of(int64_t item)
{
#define KERNEL(size) [size] = items_##size,
    static dml_host_kernel *const kernels[] = {SIZES(KERNEL)};
    bool known = item < (int64_t)(sizeof kernels / sizeof *kernels) && kernels[item];
    return kernels[known ? item : 0];
}

/* Whether each row is one item again and again, and long: then no other kernel is as fast. */
static bool repeats_items(const dml_plan *plan)
{
    const dml_axis *col = &plan->axes[plan->rank - 1];
    return col->src_stride == 0 && col->dst_stride == plan->item && plan->item * col->extent >= 64;
}

/* For a plan of any kind, but with an axis. */
static void choose_items(const dml_plan *plan, dml_host_kernel *kernel, dml_host_job *job)
{
    const int last = plan->rank - 1;
    const dml_axis *col = &plan->axes[last];
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k == last;
    int row = dml_host_take_nearest(plan, job->taken);
    int64_t block = INT64_MAX, apart = dml_magnitude(col->src_stride);
    /* Neighbours of the result lie further apart in the source than those of another axis. */
    if (plan->item < 64 && apart > 64 && row >= 0 && dml_magnitude(plan->axes[row].src_stride) < apart)
        block = dml_larger(DML_HOST_BLOCK / plan->item, 4);
    job->row = dml_host_blocks(plan, job, row, block);
    job->col = dml_host_blocks(plan, job, last, block);
    job->kernel = kernel;
}

/* --- the loops around a kernel -------------------------------------------------------------------------------------- */

enum { LEAST_PAGE = 4096 }; /* bytes of a page of memory, on any system */

typedef struct loop {
    dml_host_axis axis;
    int64_t *begin, *count; /* where the kernel reads the indices of a block; NULL: they mean nothing to it */
} loop;

typedef struct loops {
    dml_host_job job;
    dml_host_block block;
    int count;
    loop loops[DML_MAX_AXES + 2]; /* those that advance most in the source are outside */
} loops;

static void add_loop(loops *all, dml_host_axis axis, int64_t *begin, int64_t *count)
{
    int to = all->count++;
    for (; to > 0 && all->loops[to - 1].axis.advance < axis.advance; to--)
        all->loops[to] = all->loops[to - 1];
    all->loops[to] = (loop){axis, begin, count};
}

/* Finds what is readable where the indices of all axes that lie apart are 0. Two bytes that are less than a page apart lie on
 * one page or on neighbours, and so does what is between them. */
static void find_readable(const dml_plan *plan, const char *src, dml_host_job *job)
{
    bool done[DML_MAX_AXES] = {false}, apart = false;
    dml_span span = {plan->src_offset, plan->src_offset + dml_plan_src_item(plan)};
    for (int k; (k = dml_host_take_nearest(plan, done)) >= 0;) {
        const dml_axis *axis = &plan->axes[k];
        apart = apart || dml_magnitude(axis->src_stride) - (span.end - span.begin) >= LEAST_PAGE;
        job->apart[k] = apart;
        if (!apart)
            dml_span_grow(&span, axis->extent, axis->src_stride);
    }
    job->begin = src + span.begin;
    job->end = src + span.end;
}

static void choose_kernel(const dml_plan *plan, const char *src, dml_host_job *job)
{
    job->item = plan->item;
    find_readable(plan, src, job);
    if (dml_plan_has_table(plan)) {
        job->stage = (dml_host_stage){.run = dml_host_run_plain};
        dml_host_lookups_choose(plan, job);
        return;
    }
    if (repeats_items(plan)) {
        choose_items(plan, repeat, job);
        return;
    }
    dml_tiles_fit tiles = dml_host_tiles_choose(plan, job);
    if (tiles < DML_TILES_BEST && !dml_host_shuffles_choose(plan, job) && tiles == DML_TILES_NONE)
        choose_items(plan, kernel_of(plan->item), job);
}

/* The odometer goes by indices; these loops go by blocks, tell the kernel where it is, and move what is readable as well. */
static void run_loops(loops *all, int depth, const char *src, char *dst)
{
    const loop *loop = &all->loops[depth];
    const dml_host_axis *axis = &loop->axis;
    const int64_t apart = loop->begin ? 0 : axis->apart, entry = all->job.entry;
    for (int64_t i = 0; i < axis->extent; i += axis->block, src += axis->block * axis->src, dst += axis->block * axis->dst) {
        if (loop->begin) {
            *loop->begin = i;
            *loop->count = dml_smaller(axis->block, axis->extent - i);
        }
        if (depth + 1 < all->count)
            run_loops(all, depth + 1, src, dst);
        else
            all->job.kernel(&all->job, src, dst, &all->block);
        all->job.begin += apart;
        all->job.end += apart;
        all->job.entry += axis->block * axis->entry;
    }
    all->job.entry = entry;
    all->job.begin -= apart * axis->extent;
    all->job.end -= apart * axis->extent;
}

void dml_host_run_plain(const dml_plan *plan, const char *src, char *dst)
{
    if (plan->rank == 0 && !dml_plan_has_table(plan)) {
        memcpy(dst + plan->dst_offset, src + plan->src_offset, (size_t)plan->item);
        return;
    }
    loops all;
    all.count = 0;
    all.job.entry = 0;
    all.job.stage.memory = NULL;
    choose_kernel(plan, src, &all.job);
    for (int k = 0; k < plan->rank; k++)
        if (!all.job.taken[k])
            add_loop(&all, dml_host_blocks(plan, &all.job, k, 1), NULL, NULL);
    add_loop(&all, all.job.row, &all.block.row, &all.block.rows);
    add_loop(&all, all.job.col, &all.block.col, &all.block.cols);
    run_loops(&all, 0, src + plan->src_offset, dst + plan->dst_offset);
    dml_cache_release(all.job.stage.memory);
}
