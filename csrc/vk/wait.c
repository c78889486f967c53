#include "vk/wait.h"

#include "base/blocking.h"
#include "base/counters.h"
#include "base/machine.h"
#include "vk/quiesce.h"

enum {
    POLL_NS = 100000000, /* the longest sleep: interrupts are polled as often */
    NAP_NS = 200000      /* the first sleep of a wait that naps; each is twice as long as the one before */
};

static VkResult wait_once(dml_context *context, const dml_wait *wait, uint64_t timeout)
{
    if (wait->fence)
        return context->vk.vkWaitForFences(context->device, 1, &wait->fence, VK_TRUE, timeout);
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &context->timeline,
                                .pValues = &wait->timeline_value};
    return context->vk.vkWaitSemaphores(context->device, &info, timeout);
}

/* Asks whether the caller wants to stop, where it is time. What is asked may fork, and may wait for the same lock. False in the
 * child of such a fork. */
static bool poll_interrupt(dml_context *context, const dml_wait *wait)
{
    dml_interrupt_poll *interrupt = wait->interrupt;
    if (!dml_interrupt_due(interrupt))
        return true;
    bool locked = wait->lock && wait->lock->held;
    if (locked)
        dml_lock_release(wait->lock->lock);
    bool ours = dml_context_outside(context, dml_interrupt_ask, &interrupt->interrupted);
    if (locked) {
        wait->lock->held = ours && !interrupt->interrupted;
        if (wait->lock->held)
            dml_context_acquire_lock(context, wait->lock->lock);
    }
    return ours;
}

/* Polling saves the cost of sleep and wake-up, which small work is not worth. The core is yielded between two polls: a driver
 * that computes on the CPU may need it. Large work gets the core at once. Naps let the scheduler move that driver's threads:
 * woken together, several may be queued on one core, and a core that falls idle leaves a thread alone that ran there moments
 * ago, so it has to look more than once. */
static VkResult wait_since(dml_context *context, const dml_wait *wait, int64_t start)
{
    VkResult result = wait_once(context, wait, 0);
    while (result == VK_TIMEOUT && wait->poll_ns > 0 && dml_nanoseconds() - start < wait->poll_ns) {
        dml_yield();
        result = wait_once(context, wait, 0);
    }
    uint64_t sleep = wait->nap ? NAP_NS : POLL_NS;
    while (true) {
        if (!poll_interrupt(context, wait))
            return VK_ERROR_DEVICE_LOST;
        if (result != VK_TIMEOUT || (wait->stop_early && wait->interrupt->interrupted))
            break;
        result = wait_once(context, wait, sleep);
        sleep = 2 * sleep < POLL_NS ? 2 * sleep : POLL_NS;
    }
    if (result && result != VK_TIMEOUT && result != VK_ERROR_DEVICE_LOST) {
        /* The driver may lack the memory for this wait; the work was submitted, and vkQueueWaitIdle waits for it too. */
        dml_lock_acquire(&context->lock);
        result = context->vk.vkQueueWaitIdle(context->device_queue);
        dml_lock_release(&context->lock);
    }
    return result;
}

VkResult dml_wait_for(dml_context *context, const dml_wait *wait)
{
    dml_about_to_block();
    const int64_t start = dml_nanoseconds();
    const VkResult result = wait_since(context, wait, start);
    dml_count(DML_QUEUE_WAITS, 1);
    dml_count(DML_QUEUE_WAIT_NS, (uint64_t)(dml_nanoseconds() - start));
    return result;
}
