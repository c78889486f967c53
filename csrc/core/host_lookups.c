/* Looks up elements in the rows of a table. */
#include "core/host_kernel.h"

#include <stddef.h>
#include <string.h>

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
    for (int64_t row = 0; row < rows; row++, src += src_stride, dst += dst_stride, entries += entry)
        look_up_row((const unsigned char *)src, stride, dst, to, entries, cols, of, bytes);
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

/* Rows of a block lie along an axis on which the row of the table stays: the inner one, or the next, of which BLOCK indices at
 * a time stay in the cache; else they are single elements. */
void dml_lookups_choose(const dml_plan *plan, dml_host_job *job)
{
    enum { BLOCK = 256, LARGEST = 8 };
#define KERNEL(of, size) [size] = look_up_##of##_##size,
    static dml_host_kernel *const kernels[2][LARGEST + 1] = {{SIZES(KERNEL, 1)}, {SIZES(KERNEL, 2)}};
    const int inner = plan->rank - 1, next = plan->rank > 1 ? inner - 1 : -1;
    const bool varies = inner >= 0 && plan->axes[inner].entry_stride != 0;
    const bool along_next = varies && next >= 0 && plan->axes[next].entry_stride == 0;
    const int64_t whole = varies ? 1 : INT64_MAX;
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k == inner || k == next;
    job->col = dml_host_blocks(plan, job, along_next ? next : inner, along_next ? BLOCK : whole);
    job->row = dml_host_blocks(plan, job, along_next ? inner : next, INT64_MAX);
    job->entries = (const char *)plan->entries.data + plan->entries.offset;
    dml_host_kernel *const *of = kernels[plan->src_item - 1];
    job->kernel = of[plan->item <= LARGEST && of[plan->item] ? plan->item : 0];
}
