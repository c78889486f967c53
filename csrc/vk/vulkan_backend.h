/* Vulkan's devices as a backend: `index` is that of dml_vk_context. */
#ifndef DML_VK_VULKAN_BACKEND_H
#define DML_VK_VULKAN_BACKEND_H

#include "device/backend.h"

extern const dml_backend dml_vulkan_backend;

#endif
