/* A submission: all that one vkQueueSubmit needs, from the recording of its pieces until the device is done. A context has a
 * list of idle ones. */
#ifndef DML_VK_SUBMISSION_H
#define DML_VK_SUBMISSION_H

#include "base/status.h"
#include "device/operands.h"
#include "kernels/walk.h"
#include "vk/buffer.h"
#include "vk/context.h"
#include "vk/kernels.h"
#include "vk/wait.h"

enum {
    DML_MAX_PIECES = 32,         /* of one submission, rests of dispatches included */
    DML_ARENA_BYTES = 256 * 1024 /* of tables, entries and counters; a piece with more entries gets a larger arena */
};

/* The buffer that holds one side of a piece. */
typedef struct dml_binding {
    dml_buffer *buffer;
    dml_buffer imported;
    uint64_t offset; /* of the range's first byte in the buffer */
    uint64_t size;
} dml_binding;

typedef struct dml_slot {
    dml_binding src;
    dml_binding dst;
    dml_buffer entries; /* imported */
    dml_pipeline *pipeline;
} dml_slot;

/* Buffers of a staged chunk's source and destination, which host and device both see. */
typedef struct dml_staging {
    dml_buffer side[2];
    struct dml_staging *next;
} dml_staging;

/* A descriptor set for each piece and each layout of kernels.h: rewritten whenever the piece is recorded, and NULL until it is
 * first used. */
typedef struct dml_descriptors {
    VkDescriptorPool pool;
    VkDescriptorSet sets[DML_MAX_PIECES][2]; /* [true]: for ranges that are bound as segments */
} dml_descriptors;

typedef struct dml_submission {
    struct dml_submission *next;
    uint64_t timeline_value; /* it is done when the device's is that or more, if it is queued; */
    uint64_t signalled;      /* and what the device signals then: that of the last one of the same vkQueueSubmit */
    bool after_others;       /* it uses allocations, so the device begins it after all that was submitted before, */
    bool conflicts;          /* and goes on only after a barrier */
    bool has_barrier;        /* which it begins with itself */
    bool host_sees;          /* the memory that its results lie in */
    VkCommandPool pool;
    VkCommandBuffer commands;
    bool recording; /* `commands` were begun and not ended */
    VkFence fence;
    dml_descriptors descriptors;
    dml_buffer arena; /* host-visible: tables, entries and counters of the pieces */
    uint64_t arena_used;
    dml_staging *staging;                    /* once it had chunks to move; else NULL */
    uint64_t bytes;                          /* of all pieces' destinations */
    bool alone;                              /* no other work was in flight when it was submitted */
    bool refused;                            /* the device refused an import */
    bool abandoned;                          /* the device may still be using it: it is leaked */
    VkResult broken;                         /* of a reset that failed: it is destroyed, not reused */
    dml_interrupt_poll own_poll, *interrupt; /* its own, or that of the first submission of the same call */
    int pieces;
    dml_slot slots[DML_MAX_PIECES];
    bool follows;                 /* `step` reads what another one of the same call has written */
    const dml_transfer *transfer; /* borrowed, until the call is done */
    dml_operand src, dst;         /* of `step` */
    /* Too large for a thread's stack. */
    dml_step step;
    dml_walk walk;
    dml_piece piece;
    dml_plan unpack; /* where a staged piece's results are in the staging buffer, and where they belong; before: turned */
    dml_dispatch dispatch;
} dml_submission;

/* A command buffer, with a pool of its own. */
VkResult dml_commands_create(dml_context *context, VkCommandPoolCreateFlags flags, VkCommandPool *pool,
                             VkCommandBuffer *commands);

/* An idle submission, or a new one; NULL if that fails. */
dml_submission *dml_submission_create(dml_context *context, dml_status *status);

/* Drops what is recorded, and releases what the pieces hold. The device is done with it, or it was never submitted. */
void dml_submission_reset(dml_context *context, dml_submission *submission);

/* Makes it idle, with all that it holds, unless it was abandoned. */
void dml_submission_release(dml_context *context, dml_submission *submission);

void dml_submission_destroy(dml_context *context, dml_submission *submission);

/* Gives it staging buffers, unless it has some: idle ones, or new ones, which are still empty. */
dml_code dml_submission_acquire_staging(dml_context *context, dml_submission *submission, dml_status *status);

/* A pool with room for the descriptor sets of all pieces. */
VkResult dml_descriptors_create(dml_context *context, dml_descriptors *descriptors);
void dml_descriptors_destroy(dml_context *context, dml_descriptors *descriptors);

/* Writes the set of a piece for a dispatch: `buffers` are bound one to a binding, or cut into segments. The device is done with
 * the piece that the set was written for before. */
dml_code dml_descriptors_write(dml_context *context, dml_submission *submission, int piece,
                               const VkDescriptorBufferInfo buffers[DML_BINDINGS], VkDescriptorSet *set, dml_status *status);

/* Destroys the idle staging buffers; at exit all that is idle. */
void dml_stagings_destroy(dml_context *context);
void dml_submissions_destroy(dml_context *context);

#endif
