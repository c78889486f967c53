/* All that csrc/py uses of Vulkan: devices, contexts, allocations, and running a program.
 *
 * Every function may be called from any thread, without the GIL. Nothing touches Vulkan before the first call. A fork waits
 * until no thread is inside the driver. The child of a fork makes contexts of its own and never uses inherited handles.
 */
#ifndef DML_VK_VK_H
#define DML_VK_VK_H

#include "vk/cuda_exchange.h"
#include "vk/instance.h"
#include "vk/results.h"
#include "vk/run.h"
#include "vk/vulkan_allocation.h"

extern const dml_backend dml_vulkan_backend; /* `index` is that of dml_vk_context */

#endif
