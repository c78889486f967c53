/* Submissions for calls, which are inside the context: they wait while too many submissions are queued. */
#ifndef DML_VK_THROTTLE_H
#define DML_VK_THROTTLE_H

#include "vk/submission.h"

/* At most so many submissions are queued. A call that finds the queue full waits until a quarter of them are done. */
enum { DML_MAX_QUEUED = 64 };

/* A submission that nobody else has. `waits`: the call waits for its work, so that it may ask the
 * device what is done. */
dml_code dml_throttle_acquire(dml_context *context, bool waits, dml_submission **submission, dml_status *status);

/* One more submission for the same call, between the same operands. */
dml_code dml_throttle_acquire_another(dml_context *context, const dml_submission *submission, dml_submission **another,
                                      dml_status *status);

#endif
