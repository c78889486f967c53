/* The process' list of devices, and a context for each one used. */
#ifndef DML_VK_INSTANCE_H
#define DML_VK_INSTANCE_H

#include "base/status.h"
#include "kernels/tunables.h"
#include "vk/device_info.h"

/* One device's context. It is made on first use and never freed. */
typedef struct dml_context dml_context;

/* Must come first, before there are threads that fork: registers the fork handlers, and touches no Vulkan. */
void dml_vk_open(void);

/* What is opened from the next listing on, in forked children too. */
void dml_vk_set_search(const dml_search *search);

/* The number of Vulkan devices: best first, unusable ones last, each once. Creates the instances, anew as long as there is no
 * usable device. Where there is no loader or no driver the count is 0 and `status` (may be NULL) says what to install; that is
 * no error. */
int dml_vk_device_count(dml_status *status);

/* A device, after a count. False, and a device that is not usable, where it is there no more: another thread made the list
 * anew, or the process exits. */
bool dml_vk_device(int index, dml_device_info *info);

/* In which ways the devices were looked for, after a count of them; false from the last on. */
bool dml_vk_way(int index, dml_way *way);

/* Opens a driver without the loader, lists its devices, and closes it. A bad driver may end the process. */
void dml_vk_probe(const char *library, dml_probe *probe);

/* Says why this thread chose a device, as ", which is named": for the log, if its context is made. The text stays. */
void dml_vk_because(const char *why);

/* The context of device `index`, created if need be. */
dml_code dml_vk_context(int index, dml_context **context, dml_status *status);

/* What kernel choice knows of the device. */
const dml_traits *dml_vk_traits(const dml_context *context);

/* Calls `visit` with every context. `status` gets the first failure, or DML_INTERRUPTED, which ends the loop. It also ends in
 * the child of a fork by a signal handler, where the contexts are inherited. */
dml_code dml_vk_visit(dml_code (*visit)(dml_context *, dml_status *), dml_status *status);

/* Waits for everything on every device that was used; the status is that of the first failure, or DML_INTERRUPTED. */
dml_code dml_vk_wait_all(dml_status *status);

/* Waits as dml_vk_wait_all does, then returns all pooled memory to the devices. */
dml_code dml_vk_empty_pools(dml_status *status);

/* Returns pooled memory that nobody has used since `before`, of dml_nanoseconds; whether some is left. Waits for nothing. */
bool dml_vk_give_back(int64_t before);

/* How many submissions and contexts were leaked because a device may still be using them. */
uint64_t dml_vk_abandoned(void);

/* For tests: makes every device, from now on, look as if it offered less. Values above what a device has, or -1, change
 * nothing. `name` is one of the traits listed in traits.c, or "kernel", the only one to be allowed. False for an unknown
 * name. */
bool dml_vk_override(const char *name, int64_t value);

/* Called once, at exit. Waits up to ten seconds for calls in flight, then destroys all contexts and the instance. Later
 * calls fail with DML_EXITING. */
void dml_vk_shutdown(void);

#endif
