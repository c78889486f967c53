/* Who is inside a context: coming in and going out, and the two who wait until all are out: a fork, and the end.
 *
 * A child must not be born while another thread is inside the driver, or a layer of Vulkan's, whose locks it would inherit taken. */
#include "vk/context.h"

enum { CLOSE_MS = 10000 };

/* Takes the lock as well; whoever has shut the gate is waited for. */
static void pass(dml_context *context)
{
    dml_lock_acquire(&context->gate);
    dml_lock_acquire(&context->lock);
    dml_lock_release(&context->gate);
}

dml_code dml_context_enter(dml_context *context, dml_status *status)
{
    pass(context);
    dml_code code = DML_OK;
    if (context->closed)
        code = dml_fail(status, DML_EXITING, "the interpreter is exiting");
    else if (context->lost)
        code = dml_fail(status, DML_DEVICE_LOST, "the device was lost");
    else
        context->in_flight++;
    dml_lock_release(&context->lock);
    return code;
}

void dml_context_leave(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    context->in_flight--;
    dml_lock_release(&context->lock);
}

static void step_out(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    context->outside++;
    dml_lock_release(&context->lock);
}

static void step_in(dml_context *context)
{
    pass(context);
    context->outside--;
    dml_lock_release(&context->lock);
}

bool dml_context_outside(dml_context *context, bool (*work)(void), bool *result)
{
    uint32_t generation = dml_generation;
    step_out(context);
    *result = work();
    if (generation != dml_generation)
        return false;
    step_in(context);
    return true;
}

void dml_context_acquire_lock(dml_context *context, dml_lock *lock)
{
    step_out(context);
    dml_lock_acquire(lock);
    step_in(context);
}

void dml_context_quiesce(dml_context *context)
{
    dml_lock_acquire(&context->gate);
    dml_lock_acquire(&context->lock);
    while (context->in_flight > context->outside) {
        dml_lock_release(&context->lock);
        dml_vk_sleep(1);
        dml_lock_acquire(&context->lock);
    }
    context->vk.vkQueueWaitIdle(context->queue);
}

void dml_context_resume(dml_context *context)
{
    dml_lock_release(&context->lock);
    dml_lock_release(&context->gate);
}

bool dml_context_drain(dml_context *context)
{
    bool busy = true;
    for (int tries = 0; busy && tries < CLOSE_MS; tries++) {
        dml_lock_acquire(&context->lock);
        context->closed = true;
        busy = context->in_flight > 0;
        dml_lock_release(&context->lock);
        if (busy)
            dml_vk_sleep(1);
    }
    return !busy;
}
