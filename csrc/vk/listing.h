/* Finding devices: by the loader, from the companion's driver, or both. */
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

/* Fills in a list without devices, the better ones first. It may stay so: `status` then says why.
 *
 * `companion` is a folder with the manifest of a driver for the CPU, or empty. That driver is used without the loader: alone
 * where there is no GPU, and where there is one beside what the loader finds. The loader alone is asked where the environment
 * says what it shall load. */
void dml_devices_list(dml_device_list *list, const char *companion, dml_status *status);

/* Adds the devices that the loader finds, or where `driver` is not NULL, those of that driver. Whether it has any; if not, the
 * way says why. */
bool dml_devices_try(dml_device_list *list, const char *driver);

/* Destroys the instances, of which nothing is in use. */
void dml_devices_close(dml_device_list *list);

#endif
