/* What a user sees of a Vulkan device. */
#ifndef DML_VK_DEVICE_INFO_H
#define DML_VK_DEVICE_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/library.h"

typedef struct dml_device_info {
    char name[256];
    char driver[256]; /* name and version of the driver, "llvmpipe Mesa 25.0.7 (LLVM 19)" */
    char reason[256]; /* why the device is not usable; else empty */
    const char *type; /* "discrete", "integrated", "virtual", "cpu" or "other" */
    uint32_t api_major, api_minor, api_patch;
    uint64_t memory; /* bytes of the largest device-local heap */
    bool usable;
    bool no_memory; /* it is not usable, since the system has no memory now */
    int way;        /* see dml_vk_way */
} dml_device_info;

/* What is opened to find devices. */
typedef struct dml_search {
    char driver[DML_PATH];       /* the library of a driver that is used without the loader; or empty */
    char lavapipe[4 * DML_PATH]; /* libraries of Mesa's CPU driver that the loader would open, one a line */
    char variable[64];           /* the environment variable that tells the loader what to load; or empty */
    bool loader_first;           /* the driver comes second, besides; else the loader, if there is no device before */
    bool alone;                  /* the driver, without the loader even then */
} dml_search;

/* One way in which devices were looked for. */
typedef struct dml_way {
    bool direct;            /* straight into a driver, without the loader */
    char library[DML_PATH]; /* the loader, or the driver; empty if there is no loader */
    char reason[512];       /* why it has given no device; else empty */
} dml_way;

enum { DML_PROBED_DEVICES = 16 };

/* What looking into one driver found. */
typedef struct dml_probe {
    dml_way way;
    int count;
    dml_device_info devices[DML_PROBED_DEVICES];
} dml_probe;

#endif
