/* Finding devices: the loader, an instance, and what its drivers offer. */
#ifndef DML_VK_LISTING_H
#define DML_VK_LISTING_H

#include "base/status.h"
#include "vk/device.h"

enum { DML_MAX_DEVICES = 64 };

typedef struct dml_device_list {
    VkInstance instance;
    int count;
    dml_device devices[DML_MAX_DEVICES];
} dml_device_list;

/* Fills in an empty list, the better devices first. It may stay empty, without an instance: `status` then says why. */
void dml_devices_list(dml_device_list *list, dml_status *status);

#endif
