#include "vk/open_instance.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "vk/cpu_needs.h"
#include "vk/device.h"
#include "vk/results.h"

/* All must be there: the name of the first that is not, or NULL. */
static const char *load_functions(PFN_vkGetInstanceProcAddr get, VkInstance instance, dml_instance_functions *functions)
{
    const char *missing = NULL;
#define LOAD(name)                                                                                                             \
    functions->name = (PFN_##name)get(instance, #name);                                                                        \
    if (!functions->name && !missing)                                                                                          \
        missing = #name;
    DML_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    return missing;
}

/* Opens Mesa's CPU driver apart from the LLVM of other libraries, before the loader loads drivers: it is then found loaded and
 * bound. `libraries` are those of this driver, one a line. `reason` is left as it is, or says why one cannot be opened.
 *
 * lavapipe (libvulkan_lvp.so) calls libLLVM through the dynamic linker, which prefers the symbols that the process has already.
 * TensorFlow makes those of its own LLVM, of another version, visible to all: lavapipe would call into both, and crash. Other
 * CPU drivers, as SwiftShader, contain their compiler. lavapipe stays open: the loader would otherwise unload the driver, and
 * bind it anew to whatever the process has by then. */
static void open_cpu_driver(const char *libraries, char *reason, size_t size)
{
    char library[DML_PATH];
    for (size_t length; *libraries; libraries += length + (libraries[length] == '\n')) {
        length = strcspn(libraries, "\n");
        if (length >= sizeof library) /* no system opens it */
            continue;
        memcpy(library, libraries, length);
        library[length] = '\0';
        (void)dml_library_open(library, true, reason, size);
    }
}

/* The loader lists drivers that are not fully conformant, like MoltenVK, only on request. */
static bool asks_for_portability(PFN_vkEnumerateInstanceExtensionProperties enumerate)
{
    VkExtensionProperties *list = NULL;
    uint32_t count = 0;
    bool found = false;
    if (enumerate(NULL, &count, NULL) == VK_SUCCESS && count)
        list = malloc(count * sizeof *list);
    if (!list || enumerate(NULL, &count, list) < 0)
        count = 0; /* uncovered: needs another system or driver */
    for (uint32_t i = 0; i < count && !found; i++)
        found = strcmp(list[i].extensionName, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
    free(list);
    return found;
}

static VkResult create(PFN_vkGetInstanceProcAddr get, VkInstance *instance)
{
    PFN_vkCreateInstance create_instance = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)get(NULL, "vkEnumerateInstanceExtensionProperties");
    if (!create_instance || !enumerate)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    const char *portability = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    bool portable = asks_for_portability(enumerate);
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "dmlops", .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .flags = portable ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = portable,
                                 .ppEnabledExtensionNames = &portability};
    return DML_MADE(create_instance(&info, NULL, instance), instance);
}

static bool older_than_1_2(PFN_vkGetInstanceProcAddr get)
{
    uint32_t version = VK_API_VERSION_1_0;
    PFN_vkEnumerateInstanceVersion ask = (PFN_vkEnumerateInstanceVersion)get(NULL, "vkEnumerateInstanceVersion");
    return !ask || ask(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2;
}

static dml_code load(dml_instance *instance, PFN_vkGetInstanceProcAddr get, dml_status *status)
{
    const char *missing = load_functions(get, instance->handle, &instance->vk);
    if (!missing)
        return DML_OK;
    instance->handle = VK_NULL_HANDLE; /* what lacks a function may lack the one that destroys it */
    return dml_fail(status, DML_NO_DEVICE, "it lacks the function %s", missing);
}

/* Drivers and the loader may end the process where they get no memory. */
static dml_code check_memory(dml_instance *instance, dml_status *status)
{
    dml_status unmet;
    instance->starved = dml_cpu_check_open(&unmet);
    return instance->starved ? dml_fail(status, instance->starved, "no driver can be opened: %.400s", unmet.message) : DML_OK;
}

/* What the loader says to a driver before all else (LoaderDriverInterface.md): "I know version 5 of your interface", by which
 * handles belong to the driver alone. */
static dml_code negotiate(void *library, dml_status *status)
{
    typedef VkResult(VKAPI_PTR * negotiation)(uint32_t *);
    uint32_t version = 5;
    negotiation ask = (negotiation)dml_library_function(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    VkResult result = ask ? ask(&version) : VK_SUCCESS;
    return result ? dml_fail(status, DML_NO_DEVICE, "it needs another loader: %s", dml_vk_result_name(result)) : DML_OK;
}

/* For a manifest that it cannot read the loader returns any error, VK_ERROR_OUT_OF_HOST_MEMORY included. */
dml_code dml_instance_no_device(const dml_instance *instance, const char *doing, int result, dml_status *status)
{
    const char *why = instance->lavapipe, *comma = *why ? "; " : "";
    if (instance->way.direct && result >= 0)
        return dml_fail(status, DML_NO_DEVICE, "it has no device");
    if (instance->way.direct)
        return dml_fail(status, DML_NO_DEVICE, "%s failed: %s", doing, dml_vk_result_name(result));
    if (result < 0 && result != VK_ERROR_INCOMPATIBLE_DRIVER && result != VK_ERROR_INITIALIZATION_FAILED)
        return dml_fail(status, DML_NO_DEVICE, "no Vulkan driver could be loaded (%s; VK_LOADER_DEBUG=error tells more)%s%s",
                        dml_vk_result_name(result), comma, why);
    return dml_fail(status, DML_NO_DEVICE, "no Vulkan driver was found%s%s", comma, why);
}

/* Makes the instance by a function of the loader's, or of a driver's. */
static dml_code start(dml_instance *instance, PFN_vkGetInstanceProcAddr get, void *driver, dml_status *status)
{
    dml_library_path((dml_function)get, instance->way.library, sizeof instance->way.library);
    if (check_memory(instance, status) || (driver && negotiate(driver, status)))
        return status->code;
    if (older_than_1_2(get))
        return dml_fail(status, DML_NO_DEVICE, "%s older than 1.2", driver ? "it offers only Vulkan" : "the Vulkan loader is");
    VkResult result = create(get, &instance->handle);
    return result ? dml_instance_no_device(instance, "vkCreateInstance", result, status) : load(instance, get, status);
}

/* --- the loader ------------------------------------------------------------------------------------------------ */

static bool is_absent(const char *reason)
{
#ifdef __linux__
    return !*reason || strstr(reason, strerror(ENOENT));
#else
    (void)reason;
    return true;
#endif
}

/* `reason` is left as it is where there is none. */
static PFN_vkGetInstanceProcAddr open_loader(char *reason, size_t size)
{
#if defined(_WIN32)
    static const char *const names[] = {"vulkan-1.dll"};
#elif defined(__APPLE__)
    /* Homebrew's folder is not searched. MoltenVK is a driver that needs no loader. */
    static const char *const names[] = {"libvulkan.dylib",
                                        "libvulkan.1.dylib",
                                        "vulkan.framework/vulkan",
                                        "/opt/homebrew/lib/libvulkan.1.dylib",
                                        "/usr/local/lib/libvulkan.1.dylib",
                                        "libMoltenVK.dylib",
                                        "MoltenVK.framework/MoltenVK",
                                        "/opt/homebrew/lib/libMoltenVK.dylib",
                                        "/usr/local/lib/libMoltenVK.dylib"};
#else
    static const char *const names[] = {"libvulkan.so.1", "libvulkan.so"};
#endif
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof names[0] && is_absent(reason); i++)
        library = dml_library_open(names[i], false, reason, size);
    return library ? (PFN_vkGetInstanceProcAddr)dml_library_function(library, "vkGetInstanceProcAddr") : NULL;
}

dml_code dml_instance_open_loader(dml_instance *instance, const char *lavapipe, dml_status *status)
{
    memset(instance, 0, sizeof *instance);
    char reason[200] = "";
    PFN_vkGetInstanceProcAddr get = open_loader(reason, sizeof reason);
    if (!get && is_absent(reason))
        return dml_fail(status, DML_NO_DEVICE, "the Vulkan loader is not installed");
    if (!get)
        return dml_fail(status, DML_NO_DEVICE, "the Vulkan loader cannot be opened: %s", reason);
    open_cpu_driver(lavapipe, instance->lavapipe, sizeof instance->lavapipe);
    return start(instance, get, NULL, status);
}

/* --- a driver --------------------------------------------------------------------------------------------------- */

dml_code dml_instance_open_driver(dml_instance *instance, const char *library, dml_status *status)
{
    memset(instance, 0, sizeof *instance);
    instance->way.direct = true;
    snprintf(instance->way.library, sizeof instance->way.library, "%s", library);
    char reason[400];
    void *driver = dml_library_open(library, true, reason, sizeof reason);
    if (!driver)
        return dml_fail(status, DML_NO_DEVICE, "%s", reason);
    PFN_vkGetInstanceProcAddr get = (PFN_vkGetInstanceProcAddr)dml_library_function(driver, "vk_icdGetInstanceProcAddr");
    if (!get)
        return dml_fail(status, DML_NO_DEVICE, "it is no Vulkan driver: it exports no vk_icdGetInstanceProcAddr");
    return start(instance, get, driver, status);
}

void dml_instance_close(dml_instance *instance)
{
    if (instance->handle)
        instance->vk.vkDestroyInstance(instance->handle, NULL);
    instance->handle = VK_NULL_HANDLE;
}
