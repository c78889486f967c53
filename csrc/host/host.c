#include "host/host.h"

#include <stddef.h>
#include <string.h>

#include "base/parallel.h"
#include "host/host_gather.h"
#include "host/host_kernel.h"
#include "host/host_sums.h"
#include "plan/odometer.h"

enum {
    CHUNKS = 16,            /* that they are cut into, */
    MIN_CHUNK = 128 * 1024, /* each of at least */
    MAX_CHUNK = 1 << 20,    /* and at most so many bytes */
    GRANULE = 256,          /* bytes: a chunk has whole blocks of a kernel */
    FEW = 64                /* elements that are moved one by one where each length has so few */
};

/* A plan, which is simplified, and the chunks that it is cut into. */
typedef struct chunks {
    const dml_plan *plan;
    const char *src;
    char *dst;
    int axis;               /* that is cut */
    int64_t indices, count; /* indices of a chunk; chunks */
} chunks;

static bool run_plan(const dml_plan *plan, const char *src, char *dst, dml_interrupt_poll *poll);

/* --- lengths -------------------------------------------------------------------------------------------------------- */

/* A few elements of one length, which are not worth a choice of kernels. */
static void run_few(const dml_plan *plan, const char *src, char *dst)
{
    const dml_axis *axis = &plan->axes[plan->reversed];
    const int64_t length = dml_entries_read(&plan->entries, plan->entries.offset, axis->extent);
    src += plan->src_offset;
    dst += plan->dst_offset;
    for (int64_t i = 0; i < axis->extent; i++) {
        int64_t from = i < length ? length - 1 - i : i;
        memcpy(dst + i * axis->dst_stride, src + from * axis->src_stride, (size_t)plan->item);
    }
}

/* For one length, a reversed axis is two plain plans: what is reversed, and what is behind it. */
static bool run_length(const dml_plan *plan, const char *src, char *dst, dml_interrupt_poll *poll)
{
    const int k = plan->reversed;
    const int64_t extent = plan->axes[k].extent, stride = plan->axes[k].src_stride;
    if (extent <= FEW && dml_plan_count(plan) == extent) {
        run_few(plan, src, dst);
        return !dml_interrupt_stops(poll);
    }
    const int64_t length = dml_entries_read(&plan->entries, plan->entries.offset, extent);
    dml_plan cut;
    dml_plan_copy(&cut, plan);
    cut.reversed = -1;
    dml_plan_cut(&cut, k, 0, length);
    cut.src_offset += (length - 1) * stride;
    cut.axes[k].src_stride = -stride;
    dml_plan_simplify(&cut);
    if (!run_plan(&cut, src, dst, poll))
        return false;
    dml_plan_copy(&cut, plan);
    cut.reversed = -1;
    dml_plan_cut(&cut, k, length, extent - length);
    dml_plan_simplify(&cut);
    return run_plan(&cut, src, dst, poll);
}

static bool run_lengths(const dml_plan *plan, const char *src, char *dst, dml_interrupt_poll *poll)
{
    dml_odometer at;
    dml_plan one;
    dml_odometer_of_entries(&at, plan);
    dml_plan_copy(&one, plan);
    for (int i = 0; i < at.count; i++)
        one.axes[at.axes[i]].extent = 1;
    do {
        one.src_offset = at.src;
        one.dst_offset = at.dst;
        one.entries.offset = at.entry;
        if (!run_length(&one, src, dst, poll))
            return false;
    } while (dml_odometer_next(&at));
    return true;
}

/* --- indices -------------------------------------------------------------------------------------------------------- */

/* Where all elements have the same indices, the plan is a plain one. */
static bool run_gather(const dml_plan *plan, const char *src, char *dst, dml_interrupt_poll *poll)
{
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].entry_stride != 0) {
            dml_host_run_gather(plan, src, dst);
            return !dml_interrupt_stops(poll);
        }
    dml_plan plain;
    dml_plan_copy(&plain, plan);
    plain.gathered = 0;
    for (int k = 0; k < plan->gathered; k++) {
        const dml_gathered *axis = &plan->gathers[k];
        plain.src_offset +=
            axis->src_stride * dml_entries_index(&plan->entries, plan->entries.offset + axis->entry_offset, axis->extent);
    }
    return run_plan(&plain, src, dst, poll);
}

/* --- chunks --------------------------------------------------------------------------------------------------------- */

static bool run_whole(const dml_plan *plan, const char *src, char *dst, dml_interrupt_poll *poll)
{
    if (plan->reversed >= 0)
        return run_lengths(plan, src, dst, poll);
    if (plan->gathered > 0)
        return run_gather(plan, src, dst, poll);
    if (dml_plan_has_sum(plan))
        dml_host_run_sums(plan, src, dst);
    else
        dml_host_run_plain(plan, src, dst);
    return !dml_interrupt_stops(poll);
}

static void run_chunk(const void *argument, int64_t index)
{
    const chunks *chunks = argument;
    int64_t begin = index * chunks->indices, left = chunks->plan->axes[chunks->axis].extent - begin;
    dml_plan chunk;
    dml_plan_take(&chunk, chunks->plan, &(dml_cut){chunks->axis, begin, dml_smaller(left, chunks->indices)});
    run_whole(&chunk, chunks->src, chunks->dst, NULL);
}

/* The axis to cut, -1 if there is none. Long items become an axis. */
static int axis_to_cut(dml_plan *plan)
{
    if (plan->item < MAX_CHUNK || plan->reversed >= 0)
        return dml_plan_axis_to_cut(plan, CHUNKS);
    dml_plan_divide_item(plan, GRANULE);
    return plan->rank - 1;
}

/* Chunks of about as many bytes as they should have. */
static void choose_chunks(chunks *chunks, int64_t bytes)
{
    int64_t chunk = bytes / CHUNKS, extent = chunks->plan->axes[chunks->axis].extent;
    chunk = dml_clamp(chunk, MIN_CHUNK, MAX_CHUNK);
    int64_t granule = chunks->plan->item < GRANULE ? GRANULE / chunks->plan->item : 1;
    chunks->indices = dml_ceil_div(extent, bytes / chunk);
    if (extent >= 2 * granule)
        chunks->indices = dml_ceil_div(chunks->indices, granule) * granule;
    chunks->count = dml_ceil_div(extent, chunks->indices);
}

/* The plan is simplified. */
static bool run_plan(const dml_plan *plan, const char *src, char *dst, dml_interrupt_poll *poll)
{
    int64_t bytes = dml_plan_bytes(plan);
    if (bytes < DML_HOST_PARALLEL)
        return bytes == 0 || run_whole(plan, src, dst, poll);
    dml_plan whole;
    dml_plan_copy(&whole, plan);
    chunks chunks = {.plan = &whole, .src = src, .dst = dst, .axis = axis_to_cut(&whole)};
    if (chunks.axis < 0)
        return run_whole(plan, src, dst, poll);
    choose_chunks(&chunks, bytes);
    return dml_parallel(run_chunk, &chunks, 0, chunks.count, poll);
}

bool dml_host_run(const dml_plan *plan, const void *src, void *dst, dml_interrupt_poll *poll)
{
    dml_plan simple;
    dml_plan_copy(&simple, plan);
    dml_plan_simplify(&simple);
    return run_plan(&simple, src, dst, poll);
}
