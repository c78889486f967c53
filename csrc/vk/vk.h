/* All that csrc/py uses of Vulkan: devices, contexts, allocations, and running a program.
 *
 * Every function may be called from any thread, without the GIL. Nothing touches Vulkan before the first call. A fork waits
 * until no thread is inside the driver. The child of a fork makes contexts of its own and never uses inherited handles.
 */
#ifndef DML_VK_VK_H
#define DML_VK_VK_H

#include "vk/all_contexts.h"
#include "vk/arithmetic.h"
#include "vk/cuda_exchange.h"
#include "vk/instance.h"
#include "vk/resizing.h"
#include "vk/results.h"
#include "vk/run.h"
#include "vk/vulkan_allocation.h"
#include "vk/vulkan_backend.h"

#endif
