/* Dispatches without a plan: sequence lengths that are on the device, and an empty one. */
#ifndef DML_VK_CLAMP_LENGTHS_H
#define DML_VK_CLAMP_LENGTHS_H

#include "base/status.h"
#include "vk/memory_types.h"

typedef struct dml_context dml_context;

/* `count` integers, 8 bytes apart, that become int64 lengths in place. */
typedef struct dml_clamp {
    dml_allocation *lengths;
    int64_t count;
    int item; /* bytes of an integer, which come first of its 8: 1, 2, 4 or 8 */
    bool is_signed;
    int64_t extent; /* lengths are clamped to [0, extent] */
} dml_clamp;
dml_code dml_vk_clamp_lengths(dml_context *context, const dml_clamp *clamp, dml_status *status); /* queued, not waited for */

/* Submits one workgroup with nothing to do, and waits: the least that any call costs. For the benchmark. */
dml_code dml_vk_run_nothing(dml_context *context, dml_status *status);

#endif
