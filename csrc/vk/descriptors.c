#include "vk/submission.h"

#include <string.h>

#include "vk/cpu_needs.h"
#include "vk/results.h"

VkResult dml_descriptors_create(dml_context *context, dml_descriptors *descriptors)
{
    /* Of the layout for whole ranges, and of that for segments if there is one. */
    const uint32_t kinds = context->offered.segmented ? 2 : 1;
    const uint32_t storage = DML_MIN_STORAGE_BUFFERS + (kinds == 2 ? DML_MAX_STORAGE_BUFFERS : 0);
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage * DML_MAX_PIECES},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, kinds * DML_MAX_PIECES}};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = kinds * DML_MAX_PIECES,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    return DML_CREATE(context, DescriptorPool, &info, &descriptors->pool);
}

void dml_descriptors_destroy(dml_context *context, dml_descriptors *descriptors)
{
    context->vk.vkDestroyDescriptorPool(context->device, descriptors->pool, NULL);
    memset(descriptors, 0, sizeof *descriptors);
}

/* A range as segments of 2 to the power of `bits` bytes. A descriptor array must be complete: segments beyond the range,
 * which no kernel reads, are bound to its beginning. */
static void cut_range(const VkDescriptorBufferInfo *range, int32_t bits, VkDescriptorBufferInfo segments[DML_MAX_SEGMENTS])
{
    const VkDeviceSize size = (VkDeviceSize)1 << bits;
    for (uint32_t i = 0; i < DML_MAX_SEGMENTS; i++) {
        VkDeviceSize begin = i * size < range->range ? i * size : 0, left = range->range - begin;
        segments[i] = (VkDescriptorBufferInfo){range->buffer, range->offset + begin, left < size ? left : size};
    }
}

/* The set of a piece, which is allocated when it is first used: lavapipe maps memory for each set. */
static dml_code acquire_set(dml_context *context, dml_submission *submission, int piece, bool segmented, VkDescriptorSet *set,
                            dml_status *status)
{
    VkDescriptorSet *kept = &submission->descriptors.sets[piece][segmented];
    VkResult result = VK_SUCCESS;
    if (!*kept) {
        if (dml_cpu_check(context, DML_CPU_FILE, status))
            return status->code;
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = submission->descriptors.pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &dml_kernels_modules(context, &submission->dispatch)->set_layout};
        result = DML_MADE(context->vk.vkAllocateDescriptorSets(context->device, &info, kept), kept);
    }
    *set = *kept;
    return result ? dml_vk_fail(context, result, "vkAllocateDescriptorSets", status) : DML_OK;
}

dml_code dml_descriptors_write(dml_context *context, dml_submission *submission, int piece,
                               const VkDescriptorBufferInfo buffers[DML_BINDINGS], VkDescriptorSet *set, dml_status *status)
{
    const int32_t bits = submission->dispatch.constants[DML_SEGMENT_BITS];
    if (acquire_set(context, submission, piece, bits > 0, set, status))
        return status->code;
    VkWriteDescriptorSet writes[DML_BINDINGS];
    VkDescriptorBufferInfo segments[2][DML_MAX_SEGMENTS];
    for (uint32_t i = 0; i < DML_BINDINGS; i++)
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = *set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = dml_binding_types[i],
                                           .pBufferInfo = &buffers[i]};
    for (uint32_t i = 0; i < 2 && bits > 0; i++) {
        cut_range(&buffers[i], bits, segments[i]);
        writes[i].descriptorCount = DML_MAX_SEGMENTS;
        writes[i].pBufferInfo = segments[i];
    }
    context->vk.vkUpdateDescriptorSets(context->device, DML_BINDINGS, writes, 0, NULL);
    return DML_OK;
}
