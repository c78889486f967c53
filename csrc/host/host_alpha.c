#include "host/host_resize.h"

#include <stddef.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "host/host_lines.h"

/* Bytes of a chunk; arrays of less than some chunks are one. */
enum { CHUNK = 1 << 16, CHUNKS = 8 };

typedef struct work {
    const dml_tensor *tensor;
    dml_alpha_kernel *kernel; /* for this array; NULL: plain C */
    const char *src;
    char *dst;
    int64_t lines, lines_each; /* of the array: pixels along its last axis but one; and of a chunk */
    bool multiplies;
} work;

static uint32_t multiplied(uint32_t channel, uint32_t alpha)
{
    const uint32_t product = channel * alpha + 128;
    return (product + (product >> 8)) >> 8;
}

static uint32_t divided(uint32_t channel, uint32_t alpha)
{
    const uint32_t quotient = alpha == 0 ? channel : 255 * channel / alpha;
    return quotient < 255 ? quotient : 255;
}

DML_INLINE void run_pixels(const work *work, const unsigned char *src, unsigned char *dst, const bool multiplies)
{
    const dml_tensor *tensor = work->tensor;
    const int64_t channels = tensor->shape[tensor->rank - 1], stride = tensor->strides[tensor->rank - 1];
    for (int64_t x = 0; x < tensor->shape[tensor->rank - 2]; x++, src += tensor->strides[tensor->rank - 2], dst += channels) {
        const uint32_t alpha = src[(channels - 1) * stride];
        for (int64_t k = 0; k < channels - 1; k++)
            dst[k] = (unsigned char)(multiplies ? multiplied(src[k * stride], alpha) : divided(src[k * stride], alpha));
        dst[channels - 1] = (unsigned char)alpha;
    }
}

static void run_line(const work *work, const char *src, char *dst)
{
    if (work->kernel)
        work->kernel((const unsigned char *)src, (unsigned char *)dst, work->tensor->shape[work->tensor->rank - 2],
                     work->multiplies);
    else if (work->multiplies)
        run_pixels(work, (const unsigned char *)src, (unsigned char *)dst, true);
    else
        run_pixels(work, (const unsigned char *)src, (unsigned char *)dst, false);
}

static void run_chunk(const void *argument, int64_t index)
{
    const work *work = argument;
    const dml_tensor *tensor = work->tensor;
    const int64_t bytes = tensor->shape[tensor->rank - 1] * tensor->shape[tensor->rank - 2];
    for (int64_t line = index * work->lines_each; line < work->lines && line < (index + 1) * work->lines_each; line++) {
        int64_t left = line, offset = 0;
        for (int k = tensor->rank - 3; k >= 0; k--) {
            offset += left % tensor->shape[k] * tensor->strides[k];
            left /= tensor->shape[k];
        }
        run_line(work, work->src + offset, work->dst + line * bytes);
    }
}

void dml_alpha_run(const dml_tensor *tensor, const void *src, void *dst, bool multiplies)
{
    const int64_t channels = tensor->shape[tensor->rank - 1], bytes = dml_tensor_count(tensor);
    const bool packed = channels == 4 && tensor->strides[tensor->rank - 1] == 1 && tensor->strides[tensor->rank - 2] == 4;
    work work = {.tensor = tensor, .src = src, .dst = dst, .multiplies = multiplies};
    if (bytes == 0)
        return;
    const int64_t line = channels * tensor->shape[tensor->rank - 2];
    work.kernel = packed ? dml_lines_alpha() : NULL;
    work.lines = bytes / line;
    work.lines_each = bytes < (int64_t)CHUNKS * CHUNK ? work.lines : dml_ceil_div(CHUNK, line);
    dml_parallel(run_chunk, &work, 0, dml_ceil_div(work.lines, work.lines_each), NULL);
}
