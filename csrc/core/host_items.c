#include "core/host_items.h"

#include <string.h>

typedef struct chunk {
    char bytes[16];
} chunk;

/* A few large chunks, which may overlap; all are loaded before one is stored. */
DML_INLINE void move_chunks(char *dst, const char *src, int64_t item)
{
    chunk a, b, c, d;
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
        move_chunks(dst, src, item);
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

ITEMS(0)
ITEMS(1)
ITEMS(2)
ITEMS(3)
ITEMS(4)
ITEMS(6)
ITEMS(8)
ITEMS(12)
ITEMS(16)

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
    static dml_host_kernel *const kernels[] = {[1] = items_1, [2] = items_2, [3] = items_3,   [4] = items_4,
                                               [6] = items_6, [8] = items_8, [12] = items_12, [16] = items_16};
    bool known = item < (int64_t)(sizeof kernels / sizeof *kernels) && kernels[item];
    return known ? kernels[item] : items_0;
}

void dml_items_choose(const dml_plan *plan, dml_host_job *job)
{
    const int last = plan->rank - 1;
    const dml_axis *col = &plan->axes[last];
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k == last;
    int row = dml_host_nearest(plan, job->taken);
    if (row >= 0)
        job->taken[row] = true;
    int64_t step = INT64_MAX, apart = dml_magnitude(col->src_stride);
    /* Neighbours of the result lie further apart in the source than those of another axis. */
    if (plan->item < 64 && apart > 64 && row >= 0 && dml_magnitude(plan->axes[row].src_stride) < apart)
        step = dml_larger(DML_HOST_BLOCK / plan->item, 4);
    job->row = dml_host_steps(plan, job, row, step);
    job->col = dml_host_steps(plan, job, last, step);
    bool repeats = apart == 0 && col->dst_stride == plan->item && plan->item * col->extent >= 64;
    job->kernel = repeats ? repeat : kernel_of(plan->item);
}
