/* Staging: a plan in chunks, whose host sides are packed into buffers that the device sees. While it works at one, the host takes the
 * chunk before out of the other buffers and fills them with the next. */
#include "vk/submission.h"

#include "core/host.h"
#include "core/pack.h"

#include <stdlib.h>

enum { RING = 2 };

/* Idle ones, or new ones, without buffers yet. */
static dml_code take_staging(dml_context *context, dml_submission *submission, dml_status *status)
{
    dml_lock_acquire(&context->lock);
    submission->staging = context->staging;
    if (submission->staging)
        context->staging = submission->staging->next;
    dml_lock_release(&context->lock);
    if (!submission->staging)
        submission->staging = calloc(1, sizeof *submission->staging);
    return submission->staging ? DML_OK : dml_fail(status, DML_NO_MEMORY, "no memory for staging");
}

/* Idle again, unless the device may still be using them. */
static void give_staging(dml_context *context, dml_submission *submission)
{
    if (!submission->staging || submission->abandoned)
        return;
    dml_lock_acquire(&context->lock);
    submission->staging->next = context->staging;
    context->staging = submission->staging;
    dml_lock_release(&context->lock);
    submission->staging = NULL;
}

void dml_stagings_destroy(dml_context *context)
{
    dml_lock_acquire(&context->lock);
    dml_staging *idle = context->staging;
    context->staging = NULL;
    dml_lock_release(&context->lock);
    while (idle) {
        dml_staging *staging = idle;
        idle = staging->next;
        dml_buffer_destroy(context, &staging->side[DML_SRC]);
        dml_buffer_destroy(context, &staging->side[DML_DST]);
        free(staging);
    }
}

/* Waits for a chunk, and takes the results out. */
static dml_code receive(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (dml_submission_await(context, submission, status))
        return status->code;
    if (!submission->dst.allocation) {
        dml_plan_turn(&submission->pack[DML_DST]);
        dml_host_run(&submission->pack[DML_DST], submission->staging->side[DML_DST].mapped, submission->dst.data);
    }
    return DML_OK;
}

/* Packs, fills in and submits submission->piece, of that split. */
static dml_code send(dml_context *context, const dml_split *split, dml_submission *submission, dml_status *status)
{
    bool from_host = !submission->src.allocation, to_host = !submission->dst.allocation;
    if (from_host)
        dml_pack(split->kept[DML_SRC], &submission->piece, DML_SRC, false, &submission->pack[DML_SRC]);
    if (to_host)
        dml_pack(split->kept[DML_DST], &submission->piece, DML_DST, true, &submission->pack[DML_DST]);
    if (dml_submission_add(context, submission, status))
        return status->code;
    if (from_host)
        dml_host_run(&submission->pack[DML_SRC], submission->src.data, submission->staging->side[DML_SRC].mapped);
    /* A cut piece leaves elements alone that are taken out all the same. */
    if (to_host && submission->piece.cut)
        dml_host_run(&submission->pack[DML_DST], submission->dst.data, submission->staging->side[DML_DST].mapped);
    return dml_submission_submit(context, submission, status);
}

typedef struct ring {
    dml_submission *submission[RING];
    bool sent[RING];
} ring;

/* Receives what was sent, the oldest first. After an error it is only waited for, and not even that if it was one of waiting: the device
 * may be lost, or the parent's. */
static dml_code receive_all(dml_context *context, ring *ring, int oldest, dml_code code, dml_status *status)
{
    for (int i = 0; i < RING; i++) {
        int k = (oldest + i) % RING;
        dml_status second = {0};
        if (ring->sent[k] && !code)
            code = receive(context, ring->submission[k], status);
        else if (ring->sent[k] && status->in_use)
            dml_submission_abandon(context, ring->submission[k], status);
        else if (ring->sent[k] && dml_submission_await(context, ring->submission[k], &second))
            status->in_use |= second.in_use;
        ring->sent[k] = false;
    }
    return code;
}

/* Makes the next of the ring ready for a chunk: the submission itself, or another, with staging buffers and nothing under way. */
static dml_code make_ready(dml_context *context, dml_submission *submission, ring *ring, int turn, dml_status *status)
{
    dml_submission **next = &ring->submission[turn];
    bool sent = ring->sent[turn];
    ring->sent[turn] = false;
    if (sent)
        return receive(context, *next, status);
    if (!*next && dml_submission_acquire_another(context, submission, next, status))
        return status->code;
    return (*next)->staging ? DML_OK : take_staging(context, *next, status);
}

dml_code dml_submission_stage(dml_context *context, dml_submission *submission, dml_status *status)
{
    ring ring = {{submission}, {false}};
    dml_code code = DML_OK;
    int turn = 0;
    dml_limits limits = dml_submission_limits(context);
    int64_t chunk = (int64_t)context->traits.staging;
    limits.chunk = chunk < limits.binding ? chunk : limits.binding;
    limits.pack_src = !submission->src.allocation;
    limits.pack_dst = !submission->dst.allocation;
    dml_split_begin(&submission->split, &submission->plan, &limits);
    while (!code && !submission->split.done) {
        code = make_ready(context, submission, &ring, turn, status);
        dml_submission *next = ring.submission[turn];
        if (code || !dml_split_next(&submission->split, &next->piece))
            continue;
        if (next->piece.cut) /* it shares destinations with others */
            code = receive_all(context, &ring, turn, code, status);
        if (!code)
            code = send(context, &submission->split, next, status);
        ring.sent[turn] = !code;
        turn = (turn + 1) % RING;
    }
    code = receive_all(context, &ring, turn, code, status);
    for (int i = 0; i < RING && ring.submission[i]; i++) {
        give_staging(context, ring.submission[i]);
        if (i > 0)
            dml_submission_release(context, ring.submission[i]);
    }
    return code;
}
