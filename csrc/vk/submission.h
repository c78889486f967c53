/* A submission: all that one submission needs, from the recording of its pieces to the end of the wait. A context keeps idle ones. */
#ifndef DML_VK_SUBMISSION_H
#define DML_VK_SUBMISSION_H

#include "core/split.h"
#include "vk/context.h"

enum {
    DML_MAX_PIECES = 32,         /* of one submission */
    DML_ARENA_BYTES = 256 * 1024 /* of tables, lengths and counters; grows with the lengths of one piece */
};

/* Which memory one side of a piece is in. */
typedef struct dml_binding {
    dml_buffer *buffer;
    dml_buffer imported;
    uint64_t offset; /* of the window's first byte in the buffer */
    uint64_t size;
} dml_binding;

typedef struct dml_slot {
    dml_binding src;
    dml_binding dst;
    dml_pipeline *pipeline;
} dml_slot;

typedef struct dml_interrupt_poll {
    bool interrupted; /* the caller wants to stop */
    int64_t listened; /* when that was asked last */
} dml_interrupt_poll;

struct dml_submission {
    dml_submission *next;
    uint64_t timeline_value;   /* of one that is queued: its submission's */
    bool after_others; /* waits on the device for what was submitted before: it touches allocations */
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkDescriptorPool sets;
    dml_buffer arena;
    uint64_t arena_used;
    dml_staging *staging;              /* while it has chunks to move; else NULL */
    uint64_t bytes;                    /* of all pieces' destinations */
    bool alone;                        /* no other submission was in flight when it was submitted */
    bool may_wait;                     /* else it fails where it would have to */
    bool refused;                      /* an import */
    bool abandoned;                    /* the device may still be using it: never touched again */
    VkResult broken;                   /* of a reset that failed: never used again */
    dml_interrupt_poll listening, *listener; /* its own, or that of the submission whose call this one serves too */
    int pieces;
    dml_slot slots[DML_MAX_PIECES];
    dml_operand src, dst;
    dml_allocation *lengths;
    /* Too large for a stack of unknown size. */
    dml_plan plan;
    dml_split split;
    dml_piece piece;
    dml_plan pack[2]; /* where the elements of either side of a staged piece are, and where in staging memory */
    dml_dispatch dispatch;
};

/* submission.c: an idle submission, or a new one; nobody else has it until it is finished. */
dml_code dml_submission_acquire(dml_context *context, bool wait, dml_submission **submission, dml_status *status);

/* One more, for the same call. */
dml_code dml_submission_acquire_another(dml_context *context, const dml_submission *submission, dml_submission **another, dml_status *status);

/* Drops what was recorded and never submitted. */
void dml_submission_reset(dml_context *context, dml_submission *submission);

/* Back to the idle ones, unless it was abandoned; and with it, who called. */
void dml_submission_release(dml_context *context, dml_submission *submission);
void dml_submission_finish(dml_context *context, dml_submission *submission);

/* queue.c: begins what is to be submitted. */
dml_code dml_submission_begin(dml_context *context, dml_submission *submission, dml_status *status);

/* Submits what is recorded, now or with later submissions, and does not wait: the submission is the context's from then on, unless this fails. */
dml_code dml_submission_queue(dml_context *context, dml_submission *submission, dml_status *status);

/* Submits what is recorded, waits, and gives back what the pieces held. If even the wait fails the device may still be
 * writing: the submission, and all it holds, is then abandoned. */
dml_code dml_submission_flush(dml_context *context, dml_submission *submission, dml_status *status);

/* The two halves of that. */
dml_code dml_submission_submit(dml_context *context, dml_submission *submission, dml_status *status);
dml_code dml_submission_await(dml_context *context, dml_submission *submission, dml_status *status);

/* In place of dml_submission_await: the device may still be using the submission, and all it holds, so none of it is ever touched again. Gives the status' code. */
dml_code dml_submission_abandon(dml_context *context, dml_submission *submission, dml_status *status);

/* What the clock says; and of a caller who has not asked yet whether to stop. */
int64_t dml_nanoseconds(void);
dml_interrupt_poll dml_listen_from_now(void);

/* run.c: what a submission's plan is cut to, where neither side is packed. */
dml_limits dml_submission_limits(const dml_context *context);

/* Grows a buffer that is too small; its contents are lost. */
dml_code dml_submission_reserve(dml_context *context, dml_buffer *buffer, uint64_t size, dml_memory_kind kind, dml_status *status);

/* Records submission->dispatch, of submission->piece, between the bindings of `slot`; the arena has room for its table and lengths. */
dml_code dml_submission_record(dml_context *context, dml_submission *submission, dml_slot *slot, dml_status *status);

/* Binds and records submission->piece, with what is the host's in the submission's staging buffers from their first byte on; where it has none imported. Sets
 * submission->refused, and records nothing, where that is refused. */
dml_code dml_submission_add(dml_context *context, dml_submission *submission, dml_status *status);

/* trials.c: whether to import the memory of a call, and, as long as it is not known which way is faster, how that turned out if it
 * succeeded. */
typedef struct dml_trial {
    bool import;
    dml_trials *of; /* NULL: nothing is to be found out */
    double bytes;
    int64_t start; /* in nanoseconds */
} dml_trial;

dml_code dml_trial_begin(dml_context *context, const dml_submission *submission, dml_trial *trial, dml_status *status);
void dml_trial_end(dml_context *context, const dml_trial *trial);

/* staging.c: takes submission->plan to its end by way of staging buffers. */
dml_code dml_submission_stage(dml_context *context, dml_submission *submission, dml_status *status);

#endif
