#include "vk/buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "base/pages.h"
#include "base/pool.h"
#include "vk/cpu_needs.h"
#include "vk/results.h"

/* Property flags that a kind requires, and prefers. */
static const struct {
    VkMemoryPropertyFlags required;
    VkMemoryPropertyFlags preferred;
} kinds[] = {
    [DML_MEMORY_HOST] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                         VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
    [DML_MEMORY_HOST_CACHED] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
};

static int count_bits(VkMemoryPropertyFlags flags)
{
    int count = 0;
    for (; flags; flags &= flags - 1)
        count++;
    return count;
}

/* The type with all required flags and most of the preferred ones, of which a cache counts twice, since reads without one are
 * slow: phones have none that is coherent. -1 if there is no type. Types that need a feature to be enabled
 * (protected memory, AMD's device-coherent memory) are ignored. */
static int64_t find_type(const dml_context *context, uint32_t types, VkMemoryPropertyFlags required,
                         VkMemoryPropertyFlags preferred)
{
    const VkMemoryPropertyFlags plain = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    int64_t best = -1;
    int best_score = -1;
    for (uint32_t i = 0; i < context->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = context->memory.memoryTypes[i].propertyFlags;
        int score = count_bits(flags & preferred) + count_bits(flags & preferred & VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
        if ((types & 1u << i) && (flags & required) == required && !(flags & ~plain) && score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* The memory type of DML_MEMORY_DEVICE, among the bits of `types`, and whether the host sees it; -1 if there is none. */
static int64_t find_device_type(const dml_context *context, uint32_t types, bool *seen)
{
    /* Device-local memory that the host sees may be scarce, and slow to read: it is preferred only where it is cached, so
     * that device and host share their memory. */
    const VkMemoryPropertyFlags device = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, shared = device |
                                                                                       kinds[DML_MEMORY_HOST_CACHED].required |
                                                                                       kinds[DML_MEMORY_HOST_CACHED].preferred;
    int64_t type = find_type(context, types, shared, 0);
    *seen = type >= 0;
    return type >= 0 ? type : find_type(context, types, device, 0);
}

void dml_buffer_find_heap(dml_context *context)
{
    dml_device_traits *offered = &context->offered;
    const int64_t type = find_device_type(context, UINT32_MAX, &offered->mapped);
    offered->heap = type < 0 ? 0 : context->memory.memoryTypes[type].heapIndex;
    offered->heap_bytes = type < 0 ? 0 : context->memory.memoryHeaps[offered->heap].size;
}

/* What a buffer that CUDA can be shown is made with, and what its memory is. */
static const VkExternalMemoryBufferCreateInfo exported_buffer = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                                 .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
static const VkExportMemoryAllocateInfo exported_memory = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                           .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};

static VkResult create_handle(dml_context *context, uint64_t size, const void *next, dml_buffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
    buffer->size = size;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = next, .size = size, .usage = DML_BUFFER_USAGE};
    return DML_CREATE(context, Buffer, &info, &buffer->handle);
}

static VkResult allocate(dml_context *context, uint64_t size, int64_t type, const void *next, dml_buffer *buffer)
{
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = next,
                                 .allocationSize = size,
                                 .memoryTypeIndex = (uint32_t)type};
    buffer->coherent = context->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkResult result = DML_MADE(context->vk.vkAllocateMemory(context->device, &info, NULL, &buffer->memory), &buffer->memory);
    if (result == VK_SUCCESS)
        result = context->vk.vkBindBufferMemory(context->device, buffer->handle, buffer->memory, 0);
    return result;
}

static bool import_pages(dml_context *context, const void *data, uint64_t size, dml_buffer *buffer, uint64_t *offset)
{
    const VkExternalMemoryHandleTypeFlagBits handle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    uint64_t page = context->traits.import_alignment, address = (uint64_t)(uintptr_t)data;
    uint64_t begin = address & ~(page - 1), bytes = dml_round_up(address + size - begin, page);
    void *pages = (void *)(uintptr_t)begin;
    if (!context->traits.host_import || bytes > context->traits.max_buffer)
        return false; /* uncovered: needs large arrays, which this run leaves out */
    *offset = address - begin;

    VkMemoryHostPointerPropertiesEXT pointer = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                 .handleTypes = handle};
    if (context->vk.vkGetMemoryHostPointerPropertiesEXT(context->device, handle, pages, &pointer) != VK_SUCCESS ||
        create_handle(context, bytes, &external, buffer) != VK_SUCCESS)
        return false;
    VkMemoryRequirements needs;
    context->vk.vkGetBufferMemoryRequirements(context->device, buffer->handle, &needs);
    int64_t type = find_type(context, needs.memoryTypeBits & pointer.memoryTypeBits, kinds[DML_MEMORY_HOST].required,
                             kinds[DML_MEMORY_HOST_CACHED].preferred);
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, .handleType = handle, .pHostPointer = pages};
    if (type >= 0 && needs.size <= bytes && allocate(context, bytes, type, &import, buffer) == VK_SUCCESS)
        return true;
    dml_buffer_destroy(context, buffer);
    return false;
}

bool dml_buffer_import(dml_context *context, const void *data, uint64_t size, dml_buffer *buffer, uint64_t *offset)
{
    if (!import_pages(context, data, size, buffer, offset))
        return false;
    dml_count(DML_IMPORTS, 1);
    dml_count(DML_IMPORTED_BYTES, size);
    return true;
}

/* On a CPU, buffers are imported pages of our own. lavapipe's own memory is a file, which it keeps until the process ends:
 * where the file cannot grow, the first access ends the process. Its pages are small, and their faults cost more than the
 * first use of a large buffer. A driver that imports larger pages would take the memory before ours, too. */
static bool has_own_pages(const dml_context *context, dml_memory_kind kind)
{
    const dml_device_traits *traits = &context->traits;
    const bool imports = traits->host_import && traits->import_alignment <= dml_page_size();
    return traits->cpu && imports && (traits->mapped || kind != DML_MEMORY_DEVICE);
}

/* False where there is no memory, or the driver refuses. */
static bool create_of_pages(dml_context *context, uint64_t size, dml_buffer *buffer)
{
    uint64_t offset;
    size_t whole = dml_round_up(size, context->traits.import_alignment);
    void *pages = dml_pages_map(0, whole);
    if (pages && import_pages(context, pages, whole, buffer, &offset)) {
        buffer->mapped = buffer->pages = pages;
        buffer->size = size;
        return true;
    }
    dml_pages_unmap(pages, whole);
    return false;
}

/* Tries the types from the best on until one has room: device-local memory that the host sees may be scarce. */
static VkResult allocate_host(dml_context *context, const VkMemoryRequirements *needs, dml_memory_kind kind, dml_buffer *buffer)
{
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    uint32_t types = needs->memoryTypeBits;
    for (int64_t type;
         !buffer->memory && (type = find_type(context, types, kinds[kind].required, kinds[kind].preferred)) >= 0;) {
        result = allocate(context, needs->size, type, NULL, buffer);
        types &= ~(1u << type);
    }
    return result;
}

dml_code dml_buffer_create(dml_context *context, uint64_t size, dml_memory_kind kind, dml_buffer *buffer, dml_status *status)
{
    dml_status unmet;
    const dml_code lacking = dml_cpu_check_room(context, size, &unmet);
    if (lacking)
        return dml_fail(status, lacking == DML_NO_MEMORY ? lacking : DML_OUT_OF_DEVICE_MEMORY,
                        "no memory for %llu bytes: %.400s", (unsigned long long)size, unmet.message);
    if (has_own_pages(context, kind) && create_of_pages(context, size, buffer))
        return DML_OK;
    char text[64];
    const char *doing = "vkCreateBuffer";
    bool mapped = true;
    const bool exported = kind == DML_MEMORY_DEVICE && context->traits.cuda && context->vk.vkGetMemoryFdKHR;
    VkResult result = create_handle(context, size, exported ? &exported_buffer : NULL, buffer);
    buffer->exportable = exported;
    if (result == VK_SUCCESS) {
        VkMemoryRequirements needs;
        context->vk.vkGetBufferMemoryRequirements(context->device, buffer->handle, &needs);
        snprintf(text, sizeof text, "allocating %llu bytes of device memory", (unsigned long long)needs.size);
        doing = text;
        if (kind == DML_MEMORY_DEVICE) {
            int64_t type = find_device_type(context, needs.memoryTypeBits, &mapped);
            mapped = mapped && context->traits.mapped;
            result = type < 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                              : allocate(context, needs.size, type, exported ? &exported_memory : NULL, buffer);
        } else {
            result = allocate_host(context, &needs, kind, buffer);
        }
    }
    if (result == VK_SUCCESS && mapped) {
        doing = "vkMapMemory";
        result = context->vk.vkMapMemory(context->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped);
    }
    if (result == VK_SUCCESS)
        return DML_OK;
    dml_buffer_destroy(context, buffer);
    return dml_vk_fail(context, result, doing, status);
}

dml_code dml_buffer_reserve(dml_context *context, dml_buffer *buffer, uint64_t size, dml_memory_kind kind, dml_status *status)
{
    if (buffer->size >= size)
        return DML_OK;
    dml_buffer_destroy(context, buffer);
    return dml_buffer_create(context, size, kind, buffer, status);
}

static VkMappedMemoryRange whole(const dml_buffer *buffer)
{
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = buffer->memory, .size = VK_WHOLE_SIZE};
}

dml_code dml_buffer_flush(dml_context *context, const dml_buffer *buffer, dml_status *status)
{
    const VkMappedMemoryRange range = whole(buffer);
    VkResult result = buffer->coherent ? VK_SUCCESS : context->vk.vkFlushMappedMemoryRanges(context->device, 1, &range);
    return result ? dml_vk_fail(context, result, "vkFlushMappedMemoryRanges", status) : DML_OK;
}

dml_code dml_buffer_invalidate(dml_context *context, const dml_buffer *buffer, dml_status *status)
{
    const VkMappedMemoryRange range = whole(buffer);
    VkResult result = buffer->coherent ? VK_SUCCESS : context->vk.vkInvalidateMappedMemoryRanges(context->device, 1, &range);
    return result ? dml_vk_fail(context, result, "vkInvalidateMappedMemoryRanges", status) : DML_OK;
}

void dml_buffer_destroy(dml_context *context, dml_buffer *buffer)
{
    context->vk.vkDestroyBuffer(context->device, buffer->handle, NULL);
    context->vk.vkFreeMemory(context->device, buffer->memory, NULL);
    if (buffer->pages)
        dml_pages_unmap(buffer->pages, dml_round_up(buffer->size, context->traits.import_alignment));
    memset(buffer, 0, sizeof *buffer);
}
