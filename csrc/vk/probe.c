#include "vk/probe.h"

#include <string.h>

#include "vk/listing.h"

void dml_vk_probe(const char *library, dml_probe *probe)
{
    static dml_device_list list;
    const dml_search search = {.driver = library, .lavapipe = "", .variable = ""};
    memset(&list, 0, sizeof list);
    dml_devices_try(&list, &search, true);
    probe->way = list.instances[0].way;
    probe->count = list.count < DML_PROBED_DEVICES ? list.count : DML_PROBED_DEVICES;
    for (int i = 0; i < probe->count; i++)
        probe->devices[i] = list.devices[i].info;
    dml_devices_close(&list);
}
