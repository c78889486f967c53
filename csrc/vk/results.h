/* VkResults: their names, and the statuses they become. */
#ifndef DML_VK_RESULTS_H
#define DML_VK_RESULTS_H

#include "base/status.h"

typedef struct dml_context dml_context;

/* The name of a VkResult, "VK_ERROR_DEVICE_LOST"; NULL for 0. */
const char *dml_vk_result_name(int result);

/* Fills in `status` from a VkResult. `doing` is what failed, "vkQueueSubmit". Marks the context of a lost device. */
dml_code dml_vk_fail(dml_context *context, int result, const char *doing, dml_status *status);

#endif
