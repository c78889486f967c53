#include "vk/cuda_exchange.h"

#include "vk/allocation_pool.h"
#include "vk/cuda.h"
#include "vk/queue.h"
#include "vk/quiesce.h"
#include "vk/vulkan_allocation.h"

dml_code dml_cuda_of_context(dml_context *context, int *ordinal, dml_status *status)
{
    if (dml_context_enter(context, status))
        return status->code; /* uncovered: a fault that only soak injects */
    dml_code code = dml_cuda_device(context, ordinal, status);
    dml_context_leave(context);
    return code;
}

dml_code dml_cuda_of_allocation(const dml_allocation *allocation, int *ordinal, dml_status *status)
{
    dml_context *context;
    if (!allocation->place)
        return dml_fail(status, DML_CUDA_ERROR, "the array is the host's");
    if (dml_allocation_context(allocation, &context, status) || dml_cuda_of_context(context, ordinal, status))
        return status->code;
    return allocation->place->block->buffer.exportable ? DML_OK
                                                       : dml_fail(status, DML_CUDA_ERROR, "the array's memory is not shared");
}

/* Enters the context, unless it fails, and shows the memory to CUDA. */
static dml_code enter(dml_allocation *allocation, dml_context **context, unsigned long long *address, dml_status *status)
{
    dml_block *block = allocation->place->block;
    if (dml_allocation_context(allocation, context, status) || dml_context_enter(*context, status))
        return status->code;
    if (dml_cuda_map(*context, &block->buffer, &block->mapping, status)) {
        dml_context_leave(*context);
        return status->code;
    }
    *address = block->mapping.address + allocation->place->offset;
    return DML_OK;
}

/* What the stream does next comes after all that is queued on the allocation: the stream itself waits for that where it can,
 * else this thread does. */
static dml_code order(dml_context *context, dml_allocation *allocation, void *stream, dml_status *status)
{
    const uint64_t last = allocation->place->timeline_value;
    if (context->traits.timeline_fd && dml_loans_settled(&allocation->place->loans) && dml_queue_is_running(context, last))
        return dml_cuda_stream_wait(context, stream, last, status);
    return dml_allocation_settle(context, allocation, status);
}

dml_code dml_cuda_lend(dml_allocation *allocation, uint64_t stream, unsigned long long *address, dml_status *status)
{
    dml_context *context;
    if (enter(allocation, &context, address, status))
        return status->code;
    dml_queue_flush_batch(context);
    dml_code code = stream == DML_CUDA_ANY_STREAM ? DML_OK : order(context, allocation, (void *)(uintptr_t)stream, status);
    if (!code) {
        allocation->place->loans.open++;
        allocation->place->loans.count++;
    }
    dml_context_leave(context);
    return code;
}

void dml_cuda_return(dml_allocation *allocation)
{
    allocation->place->loans.open--;
}

dml_code dml_cuda_fill(dml_allocation *allocation, unsigned long long from, size_t bytes, dml_status *status)
{
    dml_context *context;
    unsigned long long address = 0;
    if (enter(allocation, &context, &address, status))
        return status->code;
    dml_code code = dml_allocation_settle(context, allocation, status);
    if (!code)
        code = dml_cuda_copy(context, address, from, bytes, status);
    dml_context_leave(context);
    return code;
}
