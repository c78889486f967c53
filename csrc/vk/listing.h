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

/* Fills in a list without devices, the better ones first. It may stay so: `status` then says why. */
void dml_devices_list(dml_device_list *list, const dml_search *search, dml_status *status);

/* Destroys the instances, of which nothing is in use. */
void dml_devices_close(dml_device_list *list);

#endif
