#include "vk/queue.h"

#include "base/thread.h"
#include "vk/quiesce.h"

enum { TICK_MS = 1 };

/* False if the context is closed or lost. */
static bool flush(dml_context *context)
{
    dml_status status;
    if (dml_context_enter(context, &status))
        return false;
    dml_queue_flush_batch(context);
    dml_context_leave(context);
    return true;
}

/* Submits a batch that was there a tick ago. When it ends it counts as awake, so nobody wakes or starts it again. */
static DML_THREAD run(void *argument)
{
    dml_context *context = argument;
    bool open = true;
    dml_thread_name("dmlops-vulkan");
    for (uint64_t seen = 0, batch; open; seen = batch) {
        dml_lock_acquire(&context->lock);
        if (context->flusher.awake)
            dml_cond_wait_for(&context->flusher.woken, &context->lock, TICK_MS);
        batch = dml_queue_batch(context);
        context->flusher.awake = batch > 0;
        while (!context->flusher.awake)
            dml_cond_wait(&context->flusher.woken, &context->lock);
        dml_lock_release(&context->lock);
        if (batch > 0 && batch == seen)
            open = flush(context);
    }
    return 0;
}

void dml_flusher_watch(dml_context *context)
{
    if (context->flusher.awake || !context->traits.flushes)
        return;
    dml_lock_acquire(&context->lock);
    if (!context->flusher.awake && dml_queue_batch(context) > 0) {
        context->flusher.awake = true;
        if (context->flusher.started) {
            dml_cond_wake_all(&context->flusher.woken);
        } else {
            dml_cond_init(&context->flusher.woken);
            context->flusher.started = dml_thread_start(run, context);
        }
    }
    dml_lock_release(&context->lock);
}
