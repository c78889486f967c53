/* Memory barriers: work on an allocation comes after earlier work that conflicts with it, and the host sees results.
 *
 * What conflicts is known when a submission's place in the queue is, after it was recorded. So two barriers are recorded once,
 * in command buffers of their own: one is submitted before a submission that conflicts with earlier ones, the other at the end
 * of a vkQueueSubmit whose results lie in memory that the host sees.
 */
#ifndef DML_VK_BARRIERS_H
#define DML_VK_BARRIERS_H

#include "vk/submission.h"

enum { DML_MAX_BATCHED = 16 };

/* What one vkQueueSubmit submits, barriers included. */
typedef struct dml_commands {
    VkCommandBuffer list[2 * (DML_MAX_BATCHED + 1) + 1];
    uint32_t count;
    bool host_sees;
    uint64_t signalled; /* the timeline value */
} dml_commands;

dml_code dml_barriers_init(dml_context *context, dml_status *status);
void dml_barriers_destroy(dml_context *context);

/* Records one among other commands: what was written before is visible to what follows, on the host or on the device. */
void dml_barrier_record(const dml_context *context, VkCommandBuffer commands, bool on_host);

/* Whether a submission that is queued next needs a barrier before it, and whether the host sees its results. The lock is
 * held. */
void dml_barriers_find(const dml_context *context, dml_submission *submission);

/* It is queued now, with its timeline value: its operands are in use by it. The lock is held. */
void dml_barriers_advance(dml_context *context, const dml_submission *submission);

/* A submission, after the barrier that it needs; and the one towards the host, if it sees any result. */
void dml_barriers_add(const dml_context *context, dml_submission *submission, dml_commands *commands);
void dml_barriers_add_last(const dml_context *context, dml_commands *commands);

#endif
