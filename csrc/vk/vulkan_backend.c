#include "vk/vk.h"

#include "base/blocking.h"
#include "vk/formulas.h"

static dml_code vulkan_allocate(int index, const dml_allocation *beside, uint64_t bytes, dml_allocation **allocation,
                                dml_status *status)
{
    dml_context *context;
    if (!beside)
        dml_about_to_block(); /* a context may have to be made */
    if (beside ? dml_allocation_context(beside, &context, status) : dml_vk_context(index, &context, status))
        return status->code;
    return dml_allocation_create(context, bytes, allocation, status);
}

static dml_operand vulkan_map(dml_allocation *allocation, int64_t offset)
{
    return (dml_operand){.allocation = allocation, .offset = (uint64_t)offset};
}

static dml_code vulkan_run(int index, const dml_transfer *transfer, dml_status *status)
{
    dml_context *context = NULL;
    dml_allocation *allocation;
    int64_t at = 0;
    bool writes;
    while ((allocation = dml_transfer_next(transfer, &at, &writes)))
        if (dml_allocation_context(allocation, &context, status))
            return status->code;
    if (!context) {
        dml_about_to_block(); /* as above */
        if (dml_vk_context(index, &context, status))
            return status->code;
    }
    if (transfer->program->resize)
        return dml_vk_resize(context, transfer, status);
    if (transfer->program->formulas && dml_vk_check_formulas(context, transfer->program, status))
        return status->code;
    return dml_vk_run_computed(context, transfer, status);
}

static dml_code vulkan_wait(int index, dml_status *status)
{
    dml_context *context;
    return dml_vk_context(index, &context, status) ? status->code : dml_vk_wait(context, status);
}

static dml_code vulkan_memory(int index, dml_memory_bytes *bytes, dml_status *status)
{
    dml_context *context;
    return dml_vk_context(index, &context, status) ? status->code : dml_vk_memory(context, bytes, status);
}

const dml_backend dml_vulkan_backend = {
    .allocate = vulkan_allocate,
    .map = vulkan_map,
    .run = vulkan_run,
    .wait = vulkan_wait,
    .memory = vulkan_memory,
};
