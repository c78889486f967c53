/* Looking into one driver, for a report to the user. */
#ifndef DML_VK_PROBE_H
#define DML_VK_PROBE_H

#include "vk/device_info.h"

enum { DML_PROBED_DEVICES = 16 };

typedef struct dml_probe {
    dml_way way;
    int count;
    dml_device_info devices[DML_PROBED_DEVICES];
} dml_probe;

/* Opens a driver without the loader, lists its devices, and closes it. A bad driver may end the process. */
void dml_vk_probe(const char *library, dml_probe *probe);

#endif
