#include "vk/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/events.h"
#include "base/machine.h"
#include "kernels/kernel_list.h"
#include "vk/cpu_needs.h"
#include "vk/results.h"

#include "shaders.spv.h" /* all of them: setup.py writes it */

const VkDescriptorType dml_binding_types[DML_BINDINGS] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                          VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                          VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};

const dml_modules *dml_kernels_modules(const dml_context *context, const dml_dispatch *dispatch)
{
    return &context->kernels.modules[dispatch->constants[DML_SEGMENT_BITS] > 0];
}

static VkResult create_layouts(dml_context *context, uint32_t segments, dml_modules *modules)
{
    VkDescriptorSetLayoutBinding bindings[DML_BINDINGS];
    for (uint32_t i = 0; i < DML_BINDINGS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = dml_binding_types[i],
                                                     .descriptorCount = i < 2 ? segments : 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = DML_BINDINGS, .pBindings = bindings};
    VkResult result = DML_CREATE(context, DescriptorSetLayout, &set, &modules->set_layout);
    if (result)
        return result;
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &modules->set_layout};
    return DML_CREATE(context, PipelineLayout, &layout, &modules->layout);
}

typedef enum variant { PLAIN, SEGMENTED, VECTORS, ONLY_32_BIT, VARIANT_COUNT } variant;

typedef struct code {
    const uint32_t *words;
    size_t bytes;
} code;

typedef struct shader {
    const char *name;
    code variants[VARIANT_COUNT];
} shader;

#define CODE(array) {array, sizeof(array)}
#define SHADER(name)                                                                                                           \
    {#name,                                                                                                                    \
     {[PLAIN] = CODE(name##_spv),                                                                                              \
      [SEGMENTED] = CODE(name##_segmented_spv),                                                                                \
      [VECTORS] = CODE(name##_vectors_spv),                                                                                    \
      [ONLY_32_BIT] = CODE(name##_only_32_bit_spv)}},

static const shader shaders[] = {DML_SHADERS(SHADER)};

/* NULL where the kernel has none. */
static const shader *shader_of(const dml_kernel_info *kernel)
{
    const shader *shader = kernel->encode ? shaders : NULL;
    while (shader && strcmp(shader->name, kernel->name) != 0)
        shader++;
    return shader;
}

/* What kernels are made of where one descriptor binds a range. See shaders/words.glsl. */
static variant variant_of(const dml_device_traits *traits)
{
    if (traits->only_32_bit)
        return ONLY_32_BIT;
    return traits->cpu ? PLAIN : VECTORS;
}

/* Whether the device can have it: shaders name the capabilities that they need. */
static bool is_offered(const dml_device_traits *offered, const dml_kernel_info *kernel)
{
    return (!kernel->floats || offered->rounds) && (!kernel->keeps || offered->keeps) &&
           (!kernel->shuffles || offered->core.shuffles);
}

static VkResult create_modules(dml_context *context, variant variant, dml_modules *modules)
{
    VkResult result = create_layouts(context, variant == SEGMENTED ? DML_MAX_SEGMENTS : 1, modules);
    for (int i = 0; i < DML_KERNEL_COUNT && result == VK_SUCCESS; i++) {
        const dml_kernel_info *kernel = &dml_kernel_list[i];
        const shader *shader = is_offered(&context->offered, kernel) ? shader_of(kernel) : NULL;
        if (!shader)
            continue;
        const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                               .codeSize = shader->variants[variant].bytes,
                                               .pCode = shader->variants[variant].words};
        result = DML_CREATE(context, ShaderModule, &info, &modules->shaders[i]);
    }
    return result;
}

dml_code dml_kernels_init(dml_context *context, dml_status *status)
{
    context->kernels.pipeline_lock = (dml_lock)DML_LOCK_INIT;
    dml_cond_init(&context->kernels.compiled);
    VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkResult result = DML_CREATE(context, PipelineCache, &cache, &context->kernels.cache);
    if (result == VK_SUCCESS)
        result = create_modules(context, variant_of(&context->offered), &context->kernels.modules[false]);
    if (result == VK_SUCCESS && context->offered.segmented)
        result = create_modules(context, SEGMENTED, &context->kernels.modules[true]);
    return result == VK_SUCCESS ? DML_OK : dml_vk_fail(context, result, "making shaders", status);
}

/* `*at` leads to it in the list. */
static void destroy_pipeline(dml_context *context, dml_pipeline **at)
{
    dml_pipeline *pipeline = *at;
    *at = pipeline->older;
    context->kernels.count--;
    context->vk.vkDestroyPipeline(context->device, pipeline->handle, NULL);
    free(pipeline);
}

void dml_kernels_deinit(dml_context *context)
{
    while (context->kernels.newest)
        destroy_pipeline(context, &context->kernels.newest);
    context->vk.vkDestroyPipelineCache(context->device, context->kernels.cache, NULL);
    for (int segmented = 0; segmented < 2; segmented++) {
        const dml_modules *modules = &context->kernels.modules[segmented];
        for (int i = 0; i < DML_KERNEL_COUNT; i++)
            context->vk.vkDestroyShaderModule(context->device, modules->shaders[i], NULL);
        context->vk.vkDestroyPipelineLayout(context->device, modules->layout, NULL);
        context->vk.vkDestroyDescriptorSetLayout(context->device, modules->set_layout, NULL);
    }
}

static VkResult create_pipeline(dml_context *context, const dml_dispatch *dispatch, VkPipeline *pipeline)
{
    VkSpecializationMapEntry entries[DML_CONSTANTS];
    for (uint32_t i = 0; i < DML_CONSTANTS; i++)
        entries[i] = (VkSpecializationMapEntry){i, (uint32_t)(i * sizeof(int32_t)), sizeof(int32_t)};
    const dml_modules *modules = dml_kernels_modules(context, dispatch);
    VkSpecializationInfo constants = {DML_CONSTANTS, entries, sizeof dispatch->constants, dispatch->constants};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = modules->shaders[dispatch->kernel],
                                                  .pName = "main",
                                                  .pSpecializationInfo = &constants},
                                        .layout = modules->layout};
    return context->vk.vkCreateComputePipelines(context->device, context->kernels.cache, 1, &info, NULL, pipeline);
}

static bool is_of(const dml_dispatch *dispatch, dml_kernel kernel, const int32_t *constants)
{
    return kernel == dispatch->kernel && memcmp(constants, dispatch->constants, sizeof dispatch->constants) == 0;
}

dml_pipeline *dml_pipeline_find(dml_context *context, const dml_dispatch *dispatch)
{
    dml_lock_acquire(&context->lock);
    dml_pipeline **at = &context->kernels.newest, *found;
    while (*at && !is_of(dispatch, (*at)->kernel, (*at)->constants))
        at = &(*at)->older;
    found = *at;
    if (found) {
        *at = found->older;
        found->older = context->kernels.newest;
        context->kernels.newest = found;
        found->users++;
    }
    dml_lock_release(&context->lock);
    return found;
}

/* With the lock held: what leads to the least recently used pipeline that no submission holds; NULL if all are held. */
static dml_pipeline **oldest_free(dml_context *context)
{
    dml_pipeline **oldest = NULL;
    for (dml_pipeline **at = &context->kernels.newest; *at; at = &(*at)->older)
        if ((*at)->users == 0)
            oldest = at;
    return oldest;
}

bool dml_pipelines_busy(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    bool busy = context->kernels.count >= context->traits.pipelines && !oldest_free(context);
    dml_lock_release(&context->lock);
    return busy;
}

/* With the lock held. */
static void make_room(dml_context *context)
{
    dml_pipeline **oldest = oldest_free(context);
    while (context->kernels.count >= context->traits.pipelines && oldest) {
        destroy_pipeline(context, oldest);
        oldest = oldest_free(context);
    }
}

/* Compiles one without a lock. It has a user, or another thread that makes room might destroy it. */
static VkResult add_pipeline(dml_context *context, const dml_dispatch *dispatch, dml_pipeline **made)
{
    dml_pipeline *pipeline = calloc(1, sizeof *pipeline);
    VkResult result = pipeline ? create_pipeline(context, dispatch, &pipeline->handle) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result) {
        free(pipeline);
        return result;
    }
    pipeline->kernel = dispatch->kernel;
    memcpy(pipeline->constants, dispatch->constants, sizeof pipeline->constants);
    pipeline->users = 1;
    dml_lock_acquire(&context->lock);
    make_room(context);
    pipeline->older = context->kernels.newest;
    context->kernels.newest = pipeline;
    context->kernels.count++;
    dml_lock_release(&context->lock);
    *made = pipeline;
    return VK_SUCCESS;
}

/* A pipeline that a thread compiles, in that thread's stack. */
typedef struct dml_compiling {
    const dml_dispatch *dispatch;
    struct dml_compiling *next;
} dml_compiling;

/* With pipeline_lock held: what leads to the thread that compiles this pipeline; to NULL if none does. */
static dml_compiling **compiling(dml_context *context, const dml_dispatch *dispatch)
{
    dml_compiling **at = &context->kernels.compiling;
    while (*at && !is_of(dispatch, (*at)->dispatch->kernel, (*at)->dispatch->constants))
        at = &(*at)->next;
    return at;
}

/* With pipeline_lock held, but for the compilation: so threads compile different pipelines at once. */
static VkResult compile(dml_context *context, const dml_dispatch *dispatch, dml_pipeline **pipeline)
{
    dml_compiling own = {dispatch, context->kernels.compiling};
    context->kernels.compiling = &own;
    dml_lock_release(&context->kernels.pipeline_lock);
    const int64_t start = dml_nanoseconds();
    VkResult result = add_pipeline(context, dispatch, pipeline);
    const int64_t took = dml_nanoseconds() - start;
    dml_count(DML_KERNELS_COMPILED, !result);
    dml_count(DML_COMPILE_NS, (uint64_t)took);
    dml_event_add(DML_EVENT_INFO, "compiled a kernel, %s, in %lld ms", dml_kernel_list[dispatch->kernel].name,
                  (long long)(took / 1000000));
    dml_lock_acquire(&context->kernels.pipeline_lock);
    *compiling(context, dispatch) = own.next;
    dml_cond_wake_all(&context->kernels.compiled);
    return result;
}

dml_code dml_pipeline_compile(dml_context *context, const dml_dispatch *dispatch, dml_pipeline **pipeline, dml_status *status)
{
    if (dml_cpu_check(context, DML_CPU_COMPILE, status))
        return status->code;
    VkResult result = VK_SUCCESS;
    dml_lock_acquire(&context->kernels.pipeline_lock);
    while (*compiling(context, dispatch))
        dml_cond_wait(&context->kernels.compiled, &context->kernels.pipeline_lock);
    *pipeline = dml_pipeline_find(context, dispatch);
    if (!*pipeline)
        result = compile(context, dispatch, pipeline);
    dml_lock_release(&context->kernels.pipeline_lock);
    return result ? dml_vk_fail(context, result, "vkCreateComputePipelines", status) : DML_OK;
}
