/* Finding devices: by the loader, from a driver without it, or both. */
#ifndef DML_VK_LISTING_H
#define DML_VK_LISTING_H

#include "base/status.h"
#include "vk/device.h"

enum { DML_MAX_DEVICES = 64, DML_MAX_WAYS = 2 };

typedef struct dml_device_list {
    int way_count;
    dml_instance instances[DML_MAX_WAYS]; /* one for each way; those that gave no device are closed */
    int count;
    dml_device devices[DML_MAX_DEVICES];
} dml_device_list;

/* Replaces `to`, the copy of an earlier search or one of empty strings without `strings`. False without memory. */
bool dml_search_copy(dml_search *to, const dml_search *from);
void dml_search_free(dml_search *search); /* a copy, which is then not to be used */

/* Fills in a list without devices, the better ones first. It may stay so: `status` then says why. */
void dml_devices_list(dml_device_list *list, const dml_search *search, dml_status *status);

/* Adds the devices that the loader finds, or those of the driver that is used `direct`ly. Whether it has any; if not, the way
 * says why. */
bool dml_devices_try(dml_device_list *list, const dml_search *search, bool direct);

/* Destroys the instances, of which nothing is in use. */
void dml_devices_close(dml_device_list *list);

#endif
