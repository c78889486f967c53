/* A thread of each context that submits what is batched where nobody else does: a batch that lies for a millisecond or two. It
 * wakes up each millisecond while there are batches, and sleeps otherwise. */
#ifndef DML_VK_FLUSHER_H
#define DML_VK_FLUSHER_H

#include "vk/context.h"

/* After something was queued. Starts the thread where it is needed first; without one, batches wait for the next call. */
void dml_flusher_watch(dml_context *context);

#endif
