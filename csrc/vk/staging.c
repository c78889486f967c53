#include "vk/record.h"

#include "base/counters.h"
#include "vk/queue.h"
#include "vk/quiesce.h"

enum { RING = 2 };

/* Waits for a chunk, and unpacks its results. */
static dml_code receive(dml_context *context, dml_submission *submission, dml_status *status)
{
    if (dml_queue_await(context, submission, status))
        return status->code;
    if (submission->dst.allocation)
        return DML_OK;
    const dml_buffer *results = &submission->staging->side[DML_DST];
    if (dml_buffer_invalidate(context, results, status))
        return status->code;
    dml_plan_turn(&submission->unpack);
    dml_context_run_on_host(context, &submission->unpack, results->mapped, submission->dst.data);
    return DML_OK;
}

/* Records, packs and submits submission->piece, and what its dispatch leaves. */
static dml_code send(dml_context *context, dml_walk *walk, dml_submission *submission, dml_status *status)
{
    bool cut = submission->piece.cut;
    if (walk->pack[DML_DST])
        dml_plan_copy(&submission->unpack, &walk->copies[DML_DST]);
    do {
        if (dml_record_piece(context, submission, status))
            return status->code;
    } while (dml_walk_next_rest(walk, &submission->piece, &submission->dispatch));
    if (walk->pack[DML_SRC])
        dml_context_run_on_host(context, &walk->copies[DML_SRC], submission->src.data,
                                submission->staging->side[DML_SRC].mapped);
    /* A cut piece leaves some elements of its destination as they are, and all of them are unpacked. */
    const dml_buffer *results = &submission->staging->side[DML_DST];
    if (walk->pack[DML_DST] && cut) {
        dml_context_run_on_host(context, &submission->unpack, submission->dst.data, results->mapped);
        if (dml_buffer_flush(context, results, status))
            return status->code;
    }
    if (dml_queue_submit(context, submission, status))
        return status->code;
    dml_count(DML_STAGED_CHUNKS, 1);
    for (int side = DML_SRC; side <= DML_DST; side++)
        dml_count(DML_STAGED_BYTES, walk->pack[side] ? (uint64_t)dml_plan_bytes(&walk->copies[side]) : 0);
    return DML_OK;
}

typedef struct ring {
    dml_submission *submission[RING];
    bool sent[RING];
} ring;

/* Receives what was sent, the oldest first. After an error, what was sent is only awaited; after an error of waiting it is
 * abandoned: the device may be lost, or the context inherited. */
static dml_code receive_all(dml_context *context, ring *ring, int oldest, dml_code code, dml_status *status)
{
    for (int i = 0; i < RING; i++) {
        int k = (oldest + i) % RING;
        dml_status second = {0};
        if (ring->sent[k] && !code)
            code = receive(context, ring->submission[k], status);
        else if (ring->sent[k] && status->in_use)
            dml_queue_abandon(context, ring->submission[k], status);
        else if (ring->sent[k] && dml_queue_await(context, ring->submission[k], &second))
            status->in_use |= second.in_use;
        ring->sent[k] = false;
    }
    return code;
}

/* Makes submission `k` of the ring ready for a chunk: it has staging buffers, and nothing in flight. */
static dml_code make_ready(dml_context *context, dml_submission *submission, ring *ring, int k, dml_status *status)
{
    dml_submission **next = &ring->submission[k];
    bool sent = ring->sent[k];
    ring->sent[k] = false;
    if (sent)
        return receive(context, *next, status);
    if (!*next && dml_throttle_acquire_another(context, submission, next, status))
        return status->code; /* uncovered: a fault that only soak injects */
    return dml_submission_acquire_staging(context, *next, status);
}

dml_code dml_stage(dml_context *context, dml_submission *submission, dml_status *status)
{
    ring ring = {{submission}, {false}};
    dml_code code = DML_OK;
    int k = 0;
    dml_limits limits = dml_split_limits(&context->traits.core);
    int64_t chunk = (int64_t)context->traits.staging;
    limits.chunk = chunk < limits.binding ? chunk : limits.binding;
    limits.pack_src = !submission->src.allocation;
    limits.pack_dst = !submission->dst.allocation;
    dml_record_begin(context, submission, &limits);
    while (!code && !submission->walk.split.done) {
        code = make_ready(context, submission, &ring, k, status);
        dml_submission *next = ring.submission[k];
        if (code || !dml_walk_next_piece(&submission->walk, &next->piece, &next->dispatch))
            continue;
        if (next->piece.cut) /* several cut pieces write parts of one destination */
            code = receive_all(context, &ring, k, code, status);
        if (!code)
            code = send(context, &submission->walk, next, status);
        ring.sent[k] = !code;
        k = (k + 1) % RING;
    }
    code = receive_all(context, &ring, k, code, status);
    for (int i = 1; i < RING && ring.submission[i]; i++)
        dml_submission_release(context, ring.submission[i]);
    return code;
}
