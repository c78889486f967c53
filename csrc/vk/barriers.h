/* Memory barriers: work on an allocation comes after earlier work that conflicts with it, and the host sees results.
 *
 * A submission that conflicts with what is queued when it is begun begins with a barrier. Where another thread has queued what
 * conflicts since then, a command buffer with nothing but a barrier is submitted before it.
 */
#ifndef DML_VK_BARRIERS_H
#define DML_VK_BARRIERS_H

#include "vk/submission.h"

enum { DML_MAX_BATCHED = 16 };

/* What one vkQueueSubmit submits, barriers included. */
typedef struct dml_commands {
    VkCommandBuffer list[2 * (DML_MAX_BATCHED + 1)];
    uint32_t count;
    uint64_t signalled; /* the timeline value */
} dml_commands;

dml_code dml_barriers_init(dml_context *context, dml_status *status);
void dml_barriers_destroy(dml_context *context);

/* Records one among other commands: what was written before is visible to what follows, on the host or on the device. */
void dml_barrier_record(const dml_context *context, VkCommandBuffer commands, bool on_host);

/* Records the barrier that a submission begins with, if it needs one by now. */
void dml_barriers_begin(dml_context *context, dml_submission *submission);

/* Whether a submission that is queued next needs a barrier before it, and whether the host sees its results. The lock is
 * held. */
void dml_barriers_find(const dml_context *context, dml_submission *submission);

/* It is queued now, with its timeline value: its operands are in use by it. The lock is held. */
void dml_barriers_advance(dml_context *context, const dml_submission *submission);

/* A submission, after the barrier that it needs and does not begin with. */
void dml_barriers_add(const dml_context *context, dml_submission *submission, dml_commands *commands);

#endif
