/* Resizes random images by each kernel of the processor, and compares with plain C: a program for any processor, also under an
 * emulator. Prints the kernels, and how many images were alike; ends with 1 where some differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "host/host_lines.h"
#include "host/host_resize.h"

static uint32_t state = 1;

static int below(int end)
{
    state = state * 1664525 + 1013904223;
    return (int)((state >> 8) % (uint32_t)end);
}

static int size(void)
{
    return below(8) == 0 ? 1 + below(900) : 1 + below(60);
}

typedef struct image {
    dml_tensor tensor;
    unsigned char *bytes;
    size_t count;
} image;

static image make(int64_t rows, int64_t columns, int64_t items)
{
    image made = {.tensor = {.rank = 3, .item = 1, .shape = {rows, columns, items}}};
    dml_tensor_pack(&made.tensor);
    made.count = (size_t)(rows * columns * items);
    made.bytes = malloc(made.count);
    return made;
}

static void resize(const dml_resampling *resampling, const image *from, image *to, const char *kernel)
{
    dml_resize resize = {.resampling = resampling, .axes = {0, 1}};
    dml_program program = {.input_count = 1, .result_count = 1, .inputs = (dml_tensor *)&from->tensor, .results = &to->tensor};
    dml_status status;
    dml_resize_describe(&program, &resize);
    memset(to->bytes, 0xA5, to->count);
    if (!dml_lines_start_at(kernel) || dml_host_resize(&program, from->bytes, to->bytes, NULL, &status))
        exit(2);
}

/* How many kernels give another result than plain C. */
static int compare(const dml_resampling_request *request, int64_t items)
{
    dml_resampling resampling;
    dml_status status;
    int wrong = 0;
    if (dml_resampling_make(request, &resampling, &status))
        exit(2);
    if (resampling.passes == 0)
        return 0;
    image from = make(request->inputs[0], request->inputs[1], items);
    image expected = make(request->outputs[0], request->outputs[1], items), result = expected;
    result.bytes = malloc(result.count);
    for (size_t k = 0; k < from.count; k++)
        from.bytes[k] = (unsigned char)(below(3) ? below(256) : 255 * below(2));
    resize(&resampling, &from, &expected, "plain");
    for (int k = 0; dml_lines_kernel_name(k); k++) {
        resize(&resampling, &from, &result, dml_lines_kernel_name(k));
        if (memcmp(expected.bytes, result.bytes, result.count) == 0)
            continue;
        printf("%s: library %d, filter %d, %lld x %lld x %lld to %lld x %lld\n", dml_lines_kernel_name(k),
               (int)request->library, (int)request->filter, (long long)request->inputs[0], (long long)request->inputs[1],
               (long long)items, (long long)request->outputs[0], (long long)request->outputs[1]);
        wrong++;
    }
    free(from.bytes);
    free(expected.bytes);
    free(result.bytes);
    dml_resampling_release(&resampling);
    return wrong;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1000;
    int wrong = 0;
    dml_weights_open();
    dml_cache_open(1 << 24, 0);
    for (int k = 0; dml_lines_kernel_name(k); k++)
        printf("%s ", dml_lines_kernel_name(k));
    for (int k = 0; k < count; k++) {
        const int64_t items = 1 + below(5);
        dml_resampling_request request = {.library = below(3) ? DML_PILLOW : DML_OPENCV,
                                          .inputs = {size(), size()},
                                          .outputs = {size(), size()},
                                          .items = items,
                                          .newer = below(2)};
        for (int axis = 0, halves = request.library == DML_OPENCV && below(3) == 0; axis < 2 && halves; axis++)
            request.inputs[axis] = 2 * request.outputs[axis];
        request.filter = below(request.library == DML_PILLOW ? 7 : 5);
        for (int axis = 0; axis < 2 && request.library == DML_PILLOW; axis++)
            request.to[axis] = (double)request.inputs[axis];
        wrong += compare(&request, items);
    }
    printf(": %d images, %d wrong\n", count, wrong);
    return wrong > 0;
}
