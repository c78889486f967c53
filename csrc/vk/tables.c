#include "vk/run.h"

#include "kernels/table_stages.h"
#include "vk/context.h"
#include "vk/vulkan_allocation.h"

/* Between an allocation and host memory programs have one step. */
static bool may_be_staged(const dml_context *context, const dml_transfer *transfer)
{
    const bool from_device = transfer->inputs && transfer->inputs->allocation, to_device = transfer->results->allocation;
    return from_device == to_device && (from_device || (context->traits.cpu && context->traits.host_import));
}

dml_code dml_vk_run_tables(dml_context *context, const dml_transfer *transfer, dml_status *status)
{
    dml_table_stages stages;
    if (!may_be_staged(context, transfer) ||
        !dml_table_stages_begin(transfer->program, &context->traits.core.tunables, &stages))
        return dml_vk_run(context, transfer, status);
    dml_transfer passes = *transfer;
    bool refused = false;
    if (!dml_allocation_create(context, (uint64_t)stages.bytes, &passes.between, status)) {
        passes.program = &stages.program;
        passes.refused = &refused;
        dml_code code = dml_vk_run(context, &passes, status);
        dml_allocation_release(passes.between);
        if (code || !refused)
            return code;
    } else if (status->code != DML_OUT_OF_DEVICE_MEMORY) {
        return status->code;
    }
    status->code = DML_OK;
    return dml_vk_run(context, transfer, status);
}
