#include "plan/tensor.h"

#include <string.h>

int64_t dml_tensor_count(const dml_tensor *tensor)
{
    int64_t count = 1;
    for (int k = 0; k < tensor->rank; k++)
        count *= tensor->shape[k];
    return count;
}

bool dml_tensor_is_empty(const dml_tensor *tensor)
{
    bool empty = tensor->item == 0;
    for (int k = 0; k < tensor->rank; k++)
        empty = empty || tensor->shape[k] == 0;
    return empty;
}

bool dml_tensor_span(const dml_tensor *tensor, dml_span *span)
{
    bool empty = dml_tensor_is_empty(tensor), fits = true;
    *span = (dml_span){0, empty ? 0 : tensor->item};
    for (int k = 0; k < tensor->rank && !empty; k++) {
        int64_t stride = tensor->strides[k], times = tensor->shape[k] - 1;
        uint64_t bytes = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        uint64_t left = (uint64_t)INT64_MAX - (uint64_t)dml_magnitude(stride < 0 ? span->begin : span->end);
        fits = fits && (times == 0 || bytes <= left / (uint64_t)times);
        if (fits)
            dml_span_grow(span, tensor->shape[k], times > 0 ? stride : 0);
    }
    return fits;
}

uint64_t dml_tensor_extent(const dml_tensor *tensor)
{
    dml_span span;
    (void)dml_tensor_span(tensor, &span);
    return (uint64_t)span.end;
}

void dml_tensor_copy_shape(dml_tensor *to, const dml_tensor *from)
{
    to->rank = from->rank;
    to->item = from->item;
    memcpy(to->shape, from->shape, (size_t)from->rank * sizeof from->shape[0]);
}

void dml_tensor_copy(dml_tensor *to, const dml_tensor *from)
{
    dml_tensor_copy_shape(to, from);
    memcpy(to->strides, from->strides, (size_t)from->rank * sizeof from->strides[0]);
}

void dml_tensor_pack(dml_tensor *tensor)
{
    uint64_t stride = (uint64_t)tensor->item; /* wraps only where the shape is so large that it is refused later */
    for (int k = tensor->rank - 1; k >= 0; k--) {
        tensor->strides[k] = (int64_t)stride;
        stride *= tensor->shape[k] > 0 ? (uint64_t)tensor->shape[k] : 1;
    }
}
