/* The queue of a device: submissions are submitted, waited for, and retired when they are done.
 *
 * A submission is either waited for, by its fence; or queued, and then done when the timeline semaphore reaches its value.
 * Queued ones are batched where they are small or the device is busy: a vkQueueSubmit costs more than they do. They are
 * submitted together, with the next that is not batched, or when somebody waits; after a millisecond or two by flusher.c.
 */
#ifndef DML_VK_QUEUE_H
#define DML_VK_QUEUE_H

#include "vk/submission.h"

/* At most so many submissions are queued. A call that finds the queue full waits until a quarter of them are done. */
enum { DML_MAX_QUEUED = 64 };

/* A submission for a call, which is inside the context, once there is room in the queue. `waits`: the call waits for its work,
 * so that it may ask the device what is done. */
dml_code dml_throttle_acquire(dml_context *context, bool waits, dml_submission **submission, dml_status *status);

/* One more submission for the same call, between the same operands. */
dml_code dml_throttle_acquire_another(dml_context *context, const dml_submission *submission, dml_submission **another,
                                      dml_status *status);

/* Queues what is recorded, and does not wait: unless this fails, the submission is the queue's. */
dml_code dml_queue_enqueue(dml_context *context, dml_submission *submission, dml_status *status);

/* Submits what is recorded; waits for it and resets the submission; or both. If the wait fails, the submission is abandoned. */
dml_code dml_queue_submit(dml_context *context, dml_submission *submission, dml_status *status);
dml_code dml_queue_await(dml_context *context, dml_submission *submission, dml_status *status);
dml_code dml_queue_submit_and_await(dml_context *context, dml_submission *submission, dml_status *status);

/* Leaks a submission, with all that it holds, because the device may still be using it. Returns the status' code. */
dml_code dml_queue_abandon(dml_context *context, dml_submission *submission, dml_status *status);
uint64_t dml_queue_abandoned(dml_context *context); /* how many, and one more for the context itself where its device is lost */

/* Whether work up to a timeline value is all submitted, and not known to be done. */
bool dml_queue_is_running(dml_context *context, uint64_t timeline_value);

/* Whether so much is queued that it matters how much of it is done. */
bool dml_queue_is_long(dml_context *context);

/* Makes queued submissions that are done idle, and trims the pool. */
void dml_queue_retire(dml_context *context);

/* With the lock held: the first timeline value of the batch; 0 if nothing is batched. */
uint64_t dml_queue_batch(const dml_context *context);

/* Submits what is batched, then retires. */
void dml_queue_flush_batch(dml_context *context);

/* After something was queued: a thread of the context submits what is batched, where nobody else does for a millisecond or two.
 * It wakes up each millisecond while there are batches, and sleeps otherwise. It is started where it is needed first; without
 * one, batches wait for the next call. */
void dml_flusher_watch(dml_context *context);

/* Waits until the timeline has reached a value, or with UINT64_MAX until all queued work is done. `lock` (or NULL) is one of
 * the caller's, see dml_held_lock. */
dml_code dml_queue_wait(dml_context *context, uint64_t timeline_value, dml_held_lock *lock, dml_status *status);

/* Where `length` submissions or more are queued, the timeline value of the `nth`, from 1; else 0. */
uint64_t dml_queue_nth_value(dml_context *context, int length, int nth);

/* dml_allocations_trim, of all that the device is known to be done with. */
void dml_queue_trim_pool(dml_context *context, int64_t before, bool wait);

/* At exit, when the device is idle. */
void dml_queue_destroy(dml_context *context);

#endif
