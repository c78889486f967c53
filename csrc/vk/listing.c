#include "vk/listing.h"

#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "vk/cpu_needs.h"
#include "vk/quiesce.h"

_Static_assert(DML_MAX_DEVICES + 0 < DML_COUNTED_DEVICES + 0, "each device and the host have counts of their own");

#ifndef DMLOPS_PIP_INSTALL /* as tools/publishing.py has it */
#define DMLOPS_PIP_INSTALL "pip install"
#endif
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define FOR_ANY_CPU DMLOPS_PIP_INSTALL " dmlops[cpu] brings a driver for any CPU; "
#else
#define FOR_ANY_CPU ""
#endif

#if defined(_WIN32)
#define INSTALL "install the current driver of the GPU's maker, which brings Vulkan and its loader"
#elif defined(__APPLE__)
#define INSTALL "brew install vulkan-loader molten-vk, or the Vulkan SDK of vulkan.lunarg.com"
#else
#define INSTALL                                                                                                                \
    FOR_ANY_CPU "on Debian and Ubuntu: apt install libvulkan1 mesa-vulkan-drivers (for CPUs, too); elsewhere the GPU's "       \
                "driver and the Vulkan loader"
#endif

/* --- the list ---------------------------------------------------------------------------------------------------- */

/* By Dozen, Vulkan on Direct3D 12, which offers each GPU of a Windows machine, also one that has a Vulkan driver. */
static bool translated(const dml_device *device)
{
    return device->driver == VK_DRIVER_ID_MESA_DOZEN;
}

/* By which devices are sorted: usable ones first, then by type, those with a driver of their own, and memory. */
static bool better(const dml_device *a, const dml_device *b)
{
    if (a->info.usable != b->info.usable)
        return a->info.usable;
    if (a->order != b->order)
        return a->order < b->order;
    return translated(a) != translated(b) ? translated(b) : a->info.memory > b->info.memory;
}

/* Whether both are one: a device that several drivers offer, or the CPU, by the system's lavapipe and the companion's. */
static bool same(const dml_device *a, const dml_device *b)
{
    static const uint8_t no_luid[VK_LUID_SIZE];
    if (a->instance != b->instance && a->driver == VK_DRIVER_ID_MESA_LLVMPIPE && b->driver == VK_DRIVER_ID_MESA_LLVMPIPE)
        return true;
    if (translated(a) != translated(b) && memcmp(a->luid, no_luid, VK_LUID_SIZE) != 0)
        return memcmp(a->luid, b->luid, VK_LUID_SIZE) == 0;
    return memcmp(a->uuid, b->uuid, VK_UUID_SIZE) == 0 && strcmp(a->info.name, b->info.name) == 0;
}

/* Of two entries for one device: the usable one, then that of a driver of its own, then the companion's. */
static bool replaces(const dml_device *a, const dml_device *b)
{
    if (a->info.usable == b->info.usable && translated(a) != translated(b))
        return translated(b);
    if (a->info.usable != b->info.usable || a->instance == b->instance)
        return better(a, b);
    return a->instance->way.direct;
}

/* Keeps the list sorted, and each device once. */
static void add_device(dml_device_list *list, const dml_instance *instance, VkPhysicalDevice physical)
{
    dml_device device;
    dml_device_inspect(instance, physical, &device);
    device.info.way = (int)(instance - list->instances);
    for (int i = 0; i < list->count; i++) {
        if (!same(&list->devices[i], &device))
            continue;
        if (!replaces(&device, &list->devices[i]))
            return;
        list->count--;
        memmove(&list->devices[i], &list->devices[i + 1], (size_t)(list->count - i) * sizeof device);
        break;
    }
    if (list->count == DML_MAX_DEVICES)
        return;
    int to = list->count++;
    for (; to > 0 && better(&device, &list->devices[to - 1]); to--)
        list->devices[to] = list->devices[to - 1];
    list->devices[to] = device;
}

/* --- the ways ------------------------------------------------------------------------------------------------- */

/* Adds the devices of an open instance; of one without any, says why. */
static dml_code add_devices(dml_device_list *list, const dml_instance *instance, dml_status *status)
{
    VkPhysicalDevice physical[DML_MAX_DEVICES];
    uint32_t count = DML_MAX_DEVICES;
    VkResult result = instance->vk.vkEnumeratePhysicalDevices(instance->handle, &count, physical);
    for (uint32_t i = 0; result >= 0 && i < count; i++)
        add_device(list, instance, physical[i]);
    if (result >= 0 && count > 0)
        return DML_OK;
    return dml_instance_no_device(instance, "vkEnumeratePhysicalDevices", result, status);
}

/* Adds the devices that the loader finds, or those of the driver that is used `direct`ly. Whether it has any; if not, the way
 * says why. */
static bool try(dml_device_list *list, const dml_search *search, bool direct)
{
    dml_instance *instance = &list->instances[list->way_count++];
    dml_status status;
    if (direct ? dml_instance_open_driver(instance, search->driver, &status)
               : dml_instance_open_loader(instance, search->lavapipe, &status))
        ; /* the status says why */
    else if (!add_devices(list, instance, &status))
        return true;
    dml_instance_close(instance);
    snprintf(instance->way.reason, sizeof instance->way.reason, "%s", status.message);
    return false;
}

/* Why there is no device, of each way, and what can be done. To install a driver helps neither a process that may not use one,
 * nor one whose environment names others. */
static void explain(const dml_device_list *list, const dml_search *search, dml_status *status)
{
    char reasons[2 * DML_PATH] = "";
    dml_code starved = DML_OK;
    dml_status unmet;
    for (int i = 0; i < list->way_count; i++) {
        const dml_way *way = &list->instances[i].way;
        size_t length = strlen(reasons);
        snprintf(reasons + length, sizeof reasons - length, "%s%s%s%s", length > 0 ? "; " : "", way->direct ? way->library : "",
                 way->direct ? ": " : "", way->reason);
        starved = list->instances[i].starved ? list->instances[i].starved : starved;
    }
    if (starved)
        dml_fail(status, starved, "%.400s", reasons);
    else if ((*search->driver || *search->lavapipe) && dml_cpu_check_start(&unmet))
        dml_fail(status, unmet.code, "%.250s; there is a driver for the CPU, but %.220s", reasons, unmet.message);
    else if (*search->variable)
        dml_fail(status, DML_NO_DEVICE,
                 "%.120s; %s is set, and only what it names is used: python -m dmlops says why not; "
                 "without it: %s",
                 reasons, search->variable, INSTALL);
    else
        dml_fail(status, DML_NO_DEVICE, "%.200s; %s", reasons, INSTALL);
}

void dml_devices_list(dml_device_list *list, const dml_search *search, dml_status *status)
{
    list->way_count = 0;
    bool driver = *search->driver != '\0', by_loader = !driver || search->loader_first;
    bool found = try(list, search, !by_loader);
    if (driver && !search->alone && (by_loader || !found))
        try(list, search, by_loader);
    if (list->count > 0)
        dml_child_exit_watch();
    else
        explain(list, search, status);
}

void dml_devices_close(dml_device_list *list)
{
    for (int i = 0; i < list->way_count; i++)
        dml_instance_close(&list->instances[i]);
}
