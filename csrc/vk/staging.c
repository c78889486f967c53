/* Staging: a plan in chunks, whose host sides are packed into buffers that the device sees. While it works at one, the host takes the
 * chunk before out of the other buffers and fills them with the next. */
#include "vk/job.h"

#include "core/host.h"
#include "core/pack.h"

#include <stdlib.h>

enum { RING = 2 };

/* Idle ones, or new ones, without buffers yet. */
static dml_code take_staging(dml_context *context, dml_job *job, dml_status *status)
{
    dml_lock_take(&context->lock);
    job->staging = context->staging;
    if (job->staging)
        context->staging = job->staging->next;
    dml_lock_give(&context->lock);
    if (!job->staging)
        job->staging = calloc(1, sizeof *job->staging);
    return job->staging ? DML_OK : dml_fail(status, DML_NO_MEMORY, "no memory for staging");
}

/* Idle again, unless the device may still be using them. */
static void give_staging(dml_context *context, dml_job *job)
{
    if (!job->staging || job->abandoned)
        return;
    dml_lock_take(&context->lock);
    job->staging->next = context->staging;
    context->staging = job->staging;
    dml_lock_give(&context->lock);
    job->staging = NULL;
}

void dml_stagings_destroy(dml_context *context)
{
    dml_lock_take(&context->lock);
    dml_staging *idle = context->staging;
    context->staging = NULL;
    dml_lock_give(&context->lock);
    while (idle) {
        dml_staging *staging = idle;
        idle = staging->next;
        dml_buffer_destroy(context, &staging->side[DML_SRC]);
        dml_buffer_destroy(context, &staging->side[DML_DST]);
        free(staging);
    }
}

/* Waits for a chunk, and takes the results out. */
static dml_code receive(dml_context *context, dml_job *job, dml_status *status)
{
    if (dml_job_await(context, job, status))
        return status->code;
    if (!job->dst.storage) {
        dml_plan_turn(&job->pack[DML_DST]);
        dml_host_run(&job->pack[DML_DST], job->staging->side[DML_DST].mapped, job->dst.data);
    }
    return DML_OK;
}

/* Packs, fills in and submits job->piece, of that split. */
static dml_code send(dml_context *context, const dml_split *split, dml_job *job, dml_status *status)
{
    bool from_host = !job->src.storage, to_host = !job->dst.storage;
    if (from_host)
        dml_pack(split, &job->piece, DML_SRC, false, &job->pack[DML_SRC]);
    if (to_host)
        dml_pack(split, &job->piece, DML_DST, true, &job->pack[DML_DST]);
    if (dml_job_add(context, job, status))
        return status->code;
    if (from_host)
        dml_host_run(&job->pack[DML_SRC], job->src.data, job->staging->side[DML_SRC].mapped);
    /* A cut piece leaves elements alone that are taken out all the same. */
    if (to_host && job->piece.cut)
        dml_host_run(&job->pack[DML_DST], job->dst.data, job->staging->side[DML_DST].mapped);
    return dml_job_submit(context, job, status);
}

typedef struct ring {
    dml_job *job[RING];
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
            code = receive(context, ring->job[k], status);
        else if (ring->sent[k] && status->in_use)
            dml_job_abandon(context, ring->job[k], status);
        else if (ring->sent[k] && dml_job_await(context, ring->job[k], &second))
            status->in_use |= second.in_use;
        ring->sent[k] = false;
    }
    return code;
}

/* Makes the next of the ring ready for a chunk: the job itself, or another, with staging buffers and nothing under way. */
static dml_code make_ready(dml_context *context, dml_job *job, ring *ring, int turn, dml_status *status)
{
    dml_job **next = &ring->job[turn];
    bool sent = ring->sent[turn];
    ring->sent[turn] = false;
    if (sent)
        return receive(context, *next, status);
    if (!*next && dml_job_another(context, job, next, status))
        return status->code;
    return (*next)->staging ? DML_OK : take_staging(context, *next, status);
}

dml_code dml_job_stage(dml_context *context, dml_job *job, dml_status *status)
{
    ring ring = {{job}, {false}};
    dml_code code = DML_OK;
    int turn = 0;
    dml_limits limits = dml_job_limits(context);
    int64_t chunk = (int64_t)context->traits.staging;
    limits.chunk = chunk < limits.binding ? chunk : limits.binding;
    limits.pack_src = !job->src.storage;
    limits.pack_dst = !job->dst.storage;
    dml_split_begin(&job->split, &job->plan, &limits);
    while (!code && !job->split.done) {
        code = make_ready(context, job, &ring, turn, status);
        dml_job *next = ring.job[turn];
        if (code || !dml_split_next(&job->split, &next->piece))
            continue;
        if (next->piece.cut) /* it shares destinations with others */
            code = receive_all(context, &ring, turn, code, status);
        if (!code)
            code = send(context, &job->split, next, status);
        ring.sent[turn] = !code;
        turn = (turn + 1) % RING;
    }
    code = receive_all(context, &ring, turn, code, status);
    for (int i = 0; i < RING && ring.job[i]; i++) {
        give_staging(context, ring.job[i]);
        if (i > 0)
            dml_job_give(context, ring.job[i]);
    }
    return code;
}
