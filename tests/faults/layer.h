/* A Vulkan layer that stands between dmlops and the driver, for tests: it makes calls fail, counts what is alive, and
 * makes a device look like another. The library under test is the one that users get; nothing of this is in it.
 *
 * control.c is told what to do; layer.c has the chain and the calls that can fail, odd.c what a device says of itself and
 * whether that is heeded, allocations.c our own allocations, which no layer sees.
 */
#ifndef DML_TESTS_LAYER_H
#define DML_TESTS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

/* Whether this call, one of so many of its kind ("vulkan" or "memory"), is the one that must fail. */
typedef enum fault_mode { FAULT_NONE, FAULT_INSTEAD, FAULT_AFTER } fault_mode;
fault_mode fault_fires(const char *kind, const char *name, bool can_come_after);
VkResult fault_result(void);

/* A device that was lost once stays so, until there is a new one. */
bool fault_device_lost(void);
void fault_device_made(void);

/* Counts what is alive, by the name of what makes it; below zero is a violation. */
void live_add(const char *what, int change);
long live_count(const char *what);

/* Counts calls of a function. fault_fires does so itself, for those of Vulkan. */
void call_add(const char *name);

/* Something that a driver need not put up with. Kept for the report. */
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A property of the odd device, from DMLOPS_TEST_ODD="name=value,name=value"; `otherwise` where it is not named. */
long long odd(const char *name, long long otherwise);

/* Functions of the next in the chain that odd.c asks. */
typedef struct instance_table {
    PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2;
    PFN_vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceFeatures2;
    PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties vkGetPhysicalDeviceQueueFamilyProperties;
    PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties;
    PFN_vkEnumeratePhysicalDevices vkEnumeratePhysicalDevices;
    PFN_vkDestroyInstance vkDestroyInstance;
} instance_table;
extern instance_table next_instance;

/* All that odd.c takes part in. Each is NULL where the name is none of its. */
PFN_vkVoidFunction odd_function(const char *name);

/* Timeline semaphores as files, where DMLOPS_TEST_ODD has semaphores=1: functions of theirs, or NULL. The driver is not shown
 * what it does not know. */
PFN_vkVoidFunction semaphores_function(const char *name);
PFN_vkWaitSemaphores semaphores_wait(void); /* as the application waits */
VkSemaphoreCreateInfo semaphores_plain(const VkSemaphoreCreateInfo *info);
uint32_t semaphores_extensions(const VkDeviceCreateInfo *info, const char **names); /* those that are left, of 16 at most */

/* Between the application and the driver: memory that is split into kinds which the driver does not have. */
uint32_t odd_memory_bits(uint32_t bits, bool host_pointer);
VkResult odd_allocate(const VkMemoryAllocateInfo *info); /* an error that the odd device would give */
void odd_allocated(VkDeviceMemory memory, const VkMemoryAllocateInfo *info);
void odd_freed(VkDeviceMemory memory);
void *odd_mapped(VkDeviceMemory memory, void *data);
void odd_synchronise(uint32_t count, const VkMappedMemoryRange *ranges, bool to_device);
void odd_check_device(const VkDeviceCreateInfo *info);
void odd_check_sets(uint32_t count, const VkWriteDescriptorSet *writes);
void odd_check_dispatch(uint32_t groups);
uint32_t odd_family(uint32_t family); /* of queues, as the driver numbers it */

#endif
