/* Memory that arrays share, of the host or of a device.
 *
 * References are counted. The last one may be released on any thread, also in the child of a fork. What a device has `data` of
 * is read and written only after the backend has waited for its queued work.
 */
#ifndef DML_DEVICE_ALLOCATION_H
#define DML_DEVICE_ALLOCATION_H

#include <stdatomic.h>

typedef struct dml_allocation {
    void *data;                                         /* the first byte as the host sees it; NULL if it does not */
    void (*release)(struct dml_allocation *allocation); /* after the last reference is gone */
    struct dml_place *place;                            /* in a block of a Vulkan device; NULL: host memory */
    atomic_int references;
} dml_allocation;

void dml_allocation_retain(dml_allocation *allocation);
void dml_allocation_release(dml_allocation *allocation); /* NULL is fine */

#endif
