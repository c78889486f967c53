/* Waiting for the device, while signals are still answered. */
#ifndef DML_VK_WAIT_H
#define DML_VK_WAIT_H

#include "base/interrupt.h"
#include "vk/context.h"

/* A lock that the caller holds, and that is released while it is asked whether to stop. */
typedef struct dml_held_lock {
    dml_lock *lock;
    bool held; /* afterwards: false where the wait ended without acquiring it again */
} dml_held_lock;

/* What is waited for: a fence, or without one the timeline semaphore to reach a value. */
typedef struct dml_wait {
    VkFence fence;
    uint64_t timeline_value;
    int64_t poll_ns;     /* how long the device is polled before the first sleep */
    bool nap;            /* it may take long and has the cores to itself: sleep briefly at first */
    bool stop_early;     /* return as soon as the caller wants to stop; else only when it is reached */
    dml_held_lock *lock; /* or NULL */
    dml_interrupt_poll *interrupt;
} dml_wait;

/* VK_SUCCESS, VK_TIMEOUT where it stopped early, or what failed. In the child of a fork meanwhile
 * VK_ERROR_DEVICE_LOST: the context is inherited there. */
VkResult dml_wait_for(dml_context *context, const dml_wait *wait);

#endif
