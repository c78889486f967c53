#include "vk/run.h"

#include "kernels/sum_tiles.h"
#include "kernels/walk.h"
#include "resampling/resize.h"
#include "vk/context.h"
#include "vk/formulas.h"
#include "vk/vulkan_allocation.h"

/* --- which sums ------------------------------------------------------------------------------------------------------ */

static bool has_bits(const dml_context *context, const dml_sum *sum)
{
    return dml_sum_is_exact(sum) && (context->traits.rounds || !dml_sum_has_floats(sum));
}

static dml_code check_bits(const dml_context *context, const dml_resampling *resampling, dml_status *status)
{
    bool all = resampling->passes == 1 || has_bits(context, &resampling->first);
    for (int i = 0; i < resampling->part_count; i++)
        all = all && has_bits(context, &resampling->parts[i].sum);
    return all ? DML_OK
               : dml_fail(status, DML_VALUE_ERROR,
                          "this device does not promise how it rounds float32, which these sums need; device=\"host\" can");
}

/* A piece has at least one output, whose inputs a range must have. */
static dml_code check_pass(const dml_context *context, const dml_weights *weights, int64_t stride, dml_status *status)
{
    const int64_t range = dml_split_limits(&context->traits.core).range;
    const int64_t between = dml_smaller(weights->taps, weights->inputs) - 1;
    if (between * dml_magnitude(stride) < range)
        return DML_OK;
    return dml_fail(status, DML_VALUE_ERROR,
                    "the inputs of one output lie %lld bytes apart, and this device reads at most %lld at once; "
                    "device=\"host\" can",
                    (long long)(between * dml_magnitude(stride)), (long long)range);
}

static dml_code check_ranges(const dml_context *context, const dml_program *program, dml_status *status)
{
    const dml_resize *resize = program->resize;
    const dml_resampling *resampling = resize->resampling;
    const dml_tensor *from = program->inputs;
    dml_tensor between;
    int64_t begin;
    for (int pass = 0; pass < resampling->passes; pass++) {
        if (check_pass(context, resampling->weights[pass], from->strides[resize->axes[resampling->axes[pass]]], status))
            return status->code;
        if (pass + 1 < resampling->passes) {
            dml_resize_between(program, &between, &begin);
            from = &between;
        }
    }
    return DML_OK;
}

/* --- passes between allocations, and host memory that is imported ----------------------------------------------------- */

static dml_code run_passes(dml_context *context, const dml_transfer *transfer, bool *refused, dml_status *status)
{
    dml_transfer passes = *transfer;
    passes.refused = refused;
    if (transfer->program->resize->resampling->passes > 1) {
        dml_tensor between;
        int64_t begin;
        dml_resize_between(transfer->program, &between, &begin);
        if (dml_allocation_create(context, dml_tensor_extent(&between), &passes.between, status))
            return status->code;
    }
    dml_code code = dml_vk_run(context, &passes, status);
    dml_allocation_release(passes.between);
    return code;
}

/* --- host memory that is not imported -------------------------------------------------------------------------------- */

/* An array on the device that stands for one of the call's: dense, from its first element on. */
typedef struct stand_in {
    dml_tensor tensor;
    dml_operand operand;
} stand_in;

static dml_code allocate(dml_context *context, const dml_tensor *tensor, stand_in *stand_in, dml_status *status)
{
    dml_tensor_copy_shape(&stand_in->tensor, tensor);
    dml_tensor_pack(&stand_in->tensor);
    stand_in->operand = (dml_operand){.allocation = NULL};
    return dml_allocation_create(context, dml_tensor_extent(&stand_in->tensor), &stand_in->operand.allocation, status);
}

/* Copies an array. */
static dml_code copy(dml_context *context, const dml_tensor *from, int64_t src_offset, const dml_operand *src,
                     const dml_tensor *to, int64_t dst_offset, const dml_operand *dst, dml_status *status)
{
    dml_plan plan;
    dml_program program;
    dml_plan_begin(&plan, from->item);
    dml_plan_add_axes(&plan, from, from, to);
    plan.src_offset = src_offset;
    plan.dst_offset = dst_offset;
    dml_program_of_plan(&program, &plan);
    const dml_transfer transfer = {.program = &program, .inputs = src, .results = dst};
    return dml_vk_run(context, &transfer, status);
}

static dml_code run_staged(dml_context *context, const dml_transfer *transfer, dml_status *status)
{
    const dml_program *program = transfer->program;
    const bool upload = !transfer->inputs->allocation, download = !transfer->results->allocation;
    stand_in input = {.operand = *transfer->inputs}, result = {.operand = *transfer->results};
    dml_resize resize = *program->resize;
    dml_program staged = *program;
    dml_transfer passes = *transfer;
    dml_code code = DML_OK;
    staged.resize = &resize;
    passes.program = &staged;
    if (upload) {
        staged.inputs = &input.tensor;
        passes.inputs = &input.operand;
        resize.src_offset = 0;
        code = allocate(context, program->inputs, &input, status);
    }
    if (!code && download) {
        staged.results = &result.tensor;
        passes.results = &result.operand;
        resize.dst_offset = 0;
        code = allocate(context, program->results, &result, status);
    }
    if (!code && upload)
        code = copy(context, program->inputs, program->resize->src_offset, transfer->inputs, &input.tensor, 0, &input.operand,
                    status);
    if (!code)
        code = run_passes(context, &passes, NULL, status);
    if (!code && download)
        code = copy(context, &result.tensor, 0, &result.operand, program->results, program->resize->dst_offset,
                    transfer->results, status);
    if (upload)
        dml_allocation_release(input.operand.allocation);
    if (download)
        dml_allocation_release(result.operand.allocation);
    return code;
}

dml_code dml_vk_check(const dml_context *context, const dml_program *program, dml_status *status)
{
    if (program->formulas && dml_vk_check_words(context, program, status))
        return status->code;
    if (!program->resize ||
        (!check_bits(context, program->resize->resampling, status) && !check_ranges(context, program, status)))
        return DML_OK;
    return status->code;
}

dml_code dml_vk_resize(dml_context *context, const dml_transfer *transfer, dml_status *status)
{
    const bool on_device = transfer->inputs->allocation && transfer->results->allocation;
    bool refused = false;
    if (dml_vk_check(context, transfer->program, status))
        return status->code;
    if (on_device || (context->traits.cpu && context->traits.host_import)) {
        dml_code code = run_passes(context, transfer, &refused, status);
        if (code || !refused)
            return code;
    }
    return run_staged(context, transfer, status);
}
