/*
 * Runs access.comp on a driver, without a loader, and compares every byte of the destination with what it must be. At last it
 * runs without an active invocation, on buffers that nobody may access.
 *
 *     access DRIVER ROBUST SPIRV COMPONENTS SIZE VARIANT
 *
 * ROBUST is 1 for a device with robustBufferAccess and robustBufferAccess2, which then gets indices out of bounds too. A
 * component out of bounds is read as 0 and not written, on its own: others of the same element are in bounds.
 */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <vulkan/vulkan_core.h>

enum { BRANCH, LOOP, SHARED, ARRAY, PARTS };
enum { ITEMS = 312, BUFFER = 1 << 16, START = 4096, ROUNDS = 12 };

typedef struct {
    uint32_t source, destination, count, tile;
} item;

static PFN_vkGetInstanceProcAddr get_instance_address;
static VkInstance instance;
static VkDevice device;
static VkQueue queue;
static VkBuffer buffers[4];
static VkPipelineLayout layout;
static VkDescriptorSet set;
static VkCommandBuffer commands;
static uint8_t *bytes[4]; /* two sources, the destination, the work list */
static uint8_t expected[BUFFER];
static uint32_t components, size, variant;

#define LAST (0xffffffffu / (components * size)) /* the last element with an offset of 32 bits */
#define FUNCTION(name) ((PFN_##name)get_instance_address(instance, #name))
#define CHECK(call)                                        \
    do {                                                   \
        VkResult result = (call);                          \
        if (result) {                                      \
            printf("%s: %d\n", #call, result);             \
            exit(2);                                       \
        }                                                  \
    } while (0)

static uint32_t random_below(uint32_t end)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % end;
}

static VkPhysicalDevice open_driver(const char *path)
{
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        puts(dlerror());
        exit(2);
    }
    get_instance_address = (PFN_vkGetInstanceProcAddr)dlsym(driver, "vk_icdGetInstanceProcAddr");
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    CHECK(FUNCTION(vkCreateInstance)(&info, NULL, &instance));
    VkPhysicalDevice physical;
    uint32_t count = 1;
    CHECK(FUNCTION(vkEnumeratePhysicalDevices)(instance, &count, &physical));
    return physical;
}

static void make_device(VkPhysicalDevice physical, VkBool32 robust)
{
    VkPhysicalDeviceRobustness2FeaturesEXT robust2 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
    VkPhysicalDeviceVulkan12Features features12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &robust2};
    VkPhysicalDeviceVulkan11Features features11 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &features12};
    VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features11};
    FUNCTION(vkGetPhysicalDeviceFeatures2)(physical, &features);
    features.features.robustBufferAccess = robust2.robustBufferAccess2 = robust;
    robust2.robustImageAccess2 = VK_FALSE;
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, 0, 1, &priority};
    const char *extensions[] = {"VK_EXT_robustness2", "VK_EXT_external_memory_host"};
    VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features, 0, 1, &queue_info, .enabledExtensionCount = 2,
                               .ppEnabledExtensionNames = extensions};
    CHECK(FUNCTION(vkCreateDevice)(physical, &info, NULL, &device));
    FUNCTION(vkGetDeviceQueue)(device, 0, 0, &queue);
}

static VkBuffer make_buffer(uint8_t **mapped)
{
    *mapped = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkExternalMemoryBufferCreateInfo external = {VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, NULL, type};
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external, 0, BUFFER, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkImportMemoryHostPointerInfoEXT import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, NULL, type, *mapped};
    VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, BUFFER, 0};
    VkBuffer buffer;
    VkDeviceMemory memory;
    CHECK(FUNCTION(vkCreateBuffer)(device, &info, NULL, &buffer));
    CHECK(FUNCTION(vkAllocateMemory)(device, &allocation, NULL, &memory));
    CHECK(FUNCTION(vkBindBufferMemory)(device, buffer, memory, 0));
    return buffer;
}

static VkPipeline make_pipeline(const char *path, uint32_t group)
{
    static uint32_t code[1 << 14];
    FILE *file = fopen(path, "rb");
    VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .pCode = code};
    module_info.codeSize = file ? fread(code, 1, sizeof code, file) : 0;
    VkShaderModule module;
    CHECK(FUNCTION(vkCreateShaderModule)(device, &module_info, NULL, &module));
    VkSpecializationMapEntry entry = {0, 0, sizeof group};
    VkSpecializationInfo constants = {1, &entry, sizeof group, &group};
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout};
    info.stage = (VkPipelineShaderStageCreateInfo){VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, NULL, 0,
                                                   VK_SHADER_STAGE_COMPUTE_BIT, module, "main", &constants};
    VkPipeline pipeline;
    CHECK(FUNCTION(vkCreateComputePipelines)(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    fclose(file);
    return pipeline;
}

static void make_descriptors(void)
{
    VkDescriptorSetLayoutBinding bindings[3];
    for (uint32_t i = 0; i < 3; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, i ? 1 : 2,
                                                     VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, NULL, 0, 3, bindings};
    VkDescriptorSetLayout set_layout;
    CHECK(FUNCTION(vkCreateDescriptorSetLayout)(device, &set_info, NULL, &set_layout));
    VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, NULL, 0, 1, &set_layout, 0, NULL};
    CHECK(FUNCTION(vkCreatePipelineLayout)(device, &layout_info, NULL, &layout));
    VkDescriptorPoolSize size_of_pool = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, NULL, 0, 1, 1, &size_of_pool};
    VkDescriptorPool pool;
    CHECK(FUNCTION(vkCreateDescriptorPool)(device, &pool_info, NULL, &pool));
    VkDescriptorSetAllocateInfo allocation = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, NULL, pool, 1, &set_layout};
    CHECK(FUNCTION(vkAllocateDescriptorSets)(device, &allocation, &set));
}

static void make_commands(void)
{
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, NULL,
                                         VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, 0};
    VkCommandPool pool;
    CHECK(FUNCTION(vkCreateCommandPool)(device, &pool_info, NULL, &pool));
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, pool, 0, 1};
    CHECK(FUNCTION(vkAllocateCommandBuffers)(device, &info, &commands));
}

/* Binds the buffers: the first `range` bytes after START, but the whole work list. */
static void write_descriptors(uint32_t range)
{
    VkDescriptorBufferInfo infos[4];
    for (uint32_t i = 0; i < 4; i++)
        infos[i] = (VkDescriptorBufferInfo){buffers[i], i < 3 ? START : 0, i < 3 ? range : BUFFER};
    for (uint32_t i = 0; i < 3; i++) {
        VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, NULL, set, i, 0, i ? 1 : 2,
                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL, &infos[i ? i + 1 : 0], NULL};
        FUNCTION(vkUpdateDescriptorSets)(device, 1, &write, 0, NULL);
    }
}

static void dispatch(VkPipeline pipeline, uint32_t groups)
{
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(FUNCTION(vkBeginCommandBuffer)(commands, &begin));
    FUNCTION(vkCmdBindPipeline)(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    FUNCTION(vkCmdBindDescriptorSets)(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    FUNCTION(vkCmdDispatch)(commands, groups, 1, 1);
    CHECK(FUNCTION(vkEndCommandBuffer)(commands));
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CHECK(FUNCTION(vkQueueSubmit)(queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(FUNCTION(vkQueueWaitIdle)(queue));
}

/* Lists copies to distinct elements. Of `range` bytes are both buffers; `beyond`, unless 0, is where some elements are. */
static void make_work(uint32_t range, uint32_t group, uint32_t beyond, int all_active)
{
    item *work = (item *)bytes[3];
    uint32_t elements = range / (components * size), stride = variant == LOOP ? 4 : 1, order[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t other = random_below(i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        work[i].source = random_below(elements - stride);
        work[i].destination = order[i] * stride;
        work[i].count = all_active ? 1 + random_below(stride) : random_below(stride + 1);
        work[i].tile = group - 1 - i % group;
        if (beyond && !random_below(8))
            work[i].source = beyond;
        if (beyond && !random_below(8) && (order[i] == 0 || beyond < LAST)) /* so that all stay distinct */
            work[i].destination = beyond + order[i] * stride;
    }
}

/* The address of a component within a range, or NULL. Offsets are of 32 bits; those of loads are shifted as signed numbers. */
static uint8_t *component_at(uint8_t *base, uint32_t range, uint32_t element, uint32_t component, int load)
{
    uint32_t shift = (uint32_t)__builtin_ctz(size), offset = element * components * size;
    uint32_t at = (load ? (uint32_t)((int32_t)offset >> shift) : offset >> shift) + component;
    return at < range >> shift ? base + START + at * size : NULL;
}

static void expect(uint32_t range)
{
    static const uint8_t zeros[8];
    const item *work = (const item *)bytes[3];
    memcpy(expected, bytes[2], BUFFER);
    for (uint32_t i = 0; i < ITEMS; i++)
        for (uint32_t n = 0; n < work[i].count; n++)
            for (uint32_t c = 0; c < components; c++) {
                if (variant == PARTS && c % 2 == 0)
                    continue;
                uint8_t *base = bytes[variant == ARRAY && work[i].tile & 1];
                const uint8_t *from = component_at(base, range, work[i].source + n, variant == PARTS ? c - 1 : c, 1);
                uint8_t *to = component_at(expected, range, work[i].destination + n, c, 0);
                if (to)
                    memcpy(to, from ? from : zeros, size);
            }
}

/* Copies once, with some range of the buffers and some kind of offset. Returns whether every byte is right. */
static int run(VkPipeline pipeline, uint32_t group, uint32_t round, int robust)
{
    /* Some ranges end within an element, some within a component. */
    uint32_t range = (ITEMS * 4 + 4) * components * size + random_below(components * size);
    /* Just within the end, beyond it by little and by much, and where the offsets of an element's components wrap. */
    uint32_t end = range / (components * size), beyond[] = {0, end - 1, end, end + 100, LAST / 2, LAST};
    for (uint32_t b = 0; b < 3; b++)
        for (uint32_t i = 0; i < BUFFER; i++)
            bytes[b][i] = (uint8_t)(1 + random_below(255));
    make_work(range, group, robust ? beyond[round / 2 % 6] : 0, round % 2 == 0);
    expect(range);
    write_descriptors(range);
    dispatch(pipeline, ITEMS / group);
    for (uint32_t i = 0; i < BUFFER; i++)
        if (bytes[2][i] != expected[i]) {
            printf("group %u round %u: byte %d is %u, not %u\n", group, round, (int)i - START, bytes[2][i], expected[i]);
            return 0;
        }
    return 1;
}

/* A buffer that no invocation accesses need not be accessible. */
static void run_inactive(VkPipeline pipeline, uint32_t group)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        ((item *)bytes[3])[i].count = 0;
    for (uint32_t b = 0; b < 3; b++)
        mprotect(bytes[b], BUFFER, PROT_NONE);
    dispatch(pipeline, ITEMS / group);
    for (uint32_t b = 0; b < 3; b++)
        mprotect(bytes[b], BUFFER, PROT_READ | PROT_WRITE);
}

int main(int count, char **arguments)
{
    static const uint32_t groups[] = {1, 3, 8, 13, 52};
    if (count != 7)
        return 2;
    int robust = atoi(arguments[2]), failures = 0;
    components = (uint32_t)atoi(arguments[4]);
    size = (uint32_t)atoi(arguments[5]);
    variant = (uint32_t)atoi(arguments[6]);
    make_device(open_driver(arguments[1]), (VkBool32)robust);
    for (uint32_t i = 0; i < 4; i++)
        buffers[i] = make_buffer(&bytes[i]);
    make_descriptors();
    make_commands();
    for (uint32_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        VkPipeline pipeline = make_pipeline(arguments[3], groups[g]);
        for (uint32_t round = 0; round < ROUNDS; round++)
            failures += !run(pipeline, groups[g], round, robust);
        run_inactive(pipeline, groups[g]);
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
