/* What the Python edge sees of Vulkan: devices, contexts, and running a plan on one.
 *
 * Every function may be called from any thread, without the GIL. Nothing touches Vulkan before the first call.
 * Handles made before a fork are never used after it: the child starts anew.
 */
#ifndef DML_VK_VK_H
#define DML_VK_VK_H

#include "core/dispatch.h"
#include "core/status.h"

typedef struct dml_device_info {
    char name[256];
    char driver[256];      /* name and version of the driver, "llvmpipe Mesa 25.0.7 (LLVM 19)" */
    char reason[256];      /* why it is not usable; else empty */
    const char *type;      /* "discrete", "integrated", "virtual", "cpu" or "other" */
    uint32_t api_major, api_minor, api_patch;
    uint64_t memory; /* bytes of the largest device-local heap */
    bool usable;
} dml_device_info;

/* One device's context: kept for the process, made on first use, never handed out half-made. */
typedef struct dml_context dml_context;

/* How many Vulkan devices there are, best first, unusable ones last, each once. Creates the instance. Where there is no
 * loader or no driver the count is 0 and `status` (may be NULL) says what to install; that is no error. */
int dml_vk_device_count(dml_status *status);
const dml_device_info *dml_vk_device(int index);

/* The context of device `index`, created if need be. */
dml_code dml_vk_context(int index, dml_context **context, dml_status *status);

/* Runs a plan between two arrays in host memory (bases as in dml_host_run), and waits until it is done. On failure the
 * destination may be partly written. */
dml_code dml_vk_run(dml_context *context, const dml_plan *plan, const void *src, void *dst, dml_status *status);

/* Before all others, and before there are threads that fork: touches no Vulkan. `interrupted` is asked every now and then
 * during a call, on its thread, whether to stop; the call then ends with DML_INTERRUPTED, but not before the device is idle. */
void dml_vk_open(bool (*interrupted)(void));

/* What was given up because a device may still be using it: jobs with all that they hold, and contexts of lost devices. */
uint64_t dml_vk_abandoned(void);

/* For tests: makes every device, from now on, look as if it offered less. Values above what a device has, or -1, leave it as it is.
 * `name` is one of the traits listed in device.c, or "kernel", which picks a kernel wherever it can do the work.
 * False for a name that is none. */
bool dml_vk_override(const char *name, int64_t value);

/* How many pieces each kernel has run on a context: copy, rows, elements. */
void dml_vk_counts(dml_context *context, uint64_t counts[DML_KERNEL_COUNT]);

/* Submits one work group with nothing to do, and waits: what any call costs at least. For the benchmark. */
dml_code dml_vk_run_nothing(dml_context *context, dml_status *status);

/* Waits for calls in flight, but not for ever, and destroys all contexts and the instance. Called once, at exit; what is
 * asked for after that fails with DML_NO_DEVICE. */
void dml_vk_shutdown(void);

/* Name of a VkResult, "VK_ERROR_DEVICE_LOST"; NULL for 0. */
const char *dml_vk_result_name(int result);

#endif
