/* What a device offers, as plain data, so that a test can take things away. */
#ifndef DML_VK_TRAITS_H
#define DML_VK_TRAITS_H

#include "kernels/dispatch.h"
#include "vk/device.h"

#define DML_PORTABILITY_SUBSET "VK_KHR_portability_subset" /* vulkan.h leaves provisional extensions out */

typedef struct dml_device_traits {
    dml_traits core;  /* what plans and kernels depend on */
    bool cpu;         /* its memory is the host's, and threads run the workgroups */
    bool only_32_bit; /* kernels get by without 64-bit integers and storage of 8 and 16 bits: nothing is imported */
    bool rounds;      /* kernels may ask for sums and products of float32 that are rounded to nearest even */
    bool keeps;       /* likewise that keep NaN, infinities and signs of zeros */
    bool host_import;
    uint64_t import_alignment;
    uint64_t max_buffer; /* bytes of a VkBuffer or an allocation */
    uint32_t heap;       /* that allocations come from, */
    uint64_t heap_bytes; /* and how large it is */
    bool budget;         /* VK_EXT_memory_budget */
    bool portability;    /* DML_PORTABILITY_SUBSET, which then has to be asked for */
    bool segmented;      /* a range may be bound as several descriptor-array segments */
    bool mapped;         /* the host sees allocations: device and host share their memory */
    uint64_t staging;    /* most bytes of either side of a staged chunk */
    int pipelines;       /* that exist at a time, unless calls that are recording need more */
    bool flushes;        /* a thread submits what lies in a batch */
    bool host_moves;     /* the host itself moves what is little, and fills what is staged */
    bool exportable;     /* memory of allocations can be made such that another driver sees it, */
    bool cuda;           /* and is, since CUDA may be that driver */
    bool timeline_fd;    /* which then can wait for the timeline semaphore, too */
    uint32_t queue_family;
} dml_device_traits;

/* All but those of dml_buffer_find_heap. */
VkResult dml_traits_find(const dml_instance_functions *vk, VkPhysicalDevice physical, dml_device_traits *traits);

/* Sets one override by its name, -1 for none; false for an unknown name. */
bool dml_traits_set_override(const char *name, int64_t value);

/* `traits` become what is offered, less the overrides. */
void dml_traits_override(const dml_device_traits *offered, dml_device_traits *traits);

#endif
