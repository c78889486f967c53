#include "core/host_plain.h"

#include <stddef.h>
#include <string.h>

#include "core/host_items.h"
#include "core/host_table.h"
#include "core/host_tiles.h"

enum { LEAST_PAGE = 4096 }; /* bytes of a page of memory, on any system */

typedef struct loop {
    dml_host_axis axis;
    int64_t *begin, *count; /* where the kernel reads the indices of a block; NULL: they mean nothing to it */
} loop;

typedef struct loops {
    dml_host_job job;
    dml_host_block block;
    int count;
    loop loops[DML_MAX_AXES + 2]; /* those that advance most in the source are outside */
} loops;

static void add_loop(loops *all, dml_host_axis axis, int64_t *begin, int64_t *count)
{
    int to = all->count++;
    for (; to > 0 && all->loops[to - 1].axis.advance < axis.advance; to--)
        all->loops[to] = all->loops[to - 1];
    all->loops[to] = (loop){axis, begin, count};
}

/* Finds what is readable where the indices of all axes that lie apart are 0. Two bytes that are less than a page apart lie on
 * one page or on neighbours, and so does what is between them. */
static void find_readable(const dml_plan *plan, const char *src, dml_host_job *job)
{
    bool done[DML_MAX_AXES] = {false}, apart = false;
    dml_span span = {plan->src_offset, plan->src_offset + plan->item};
    for (int k = dml_host_nearest(plan, done); k >= 0; k = dml_host_nearest(plan, done)) {
        const dml_axis *axis = &plan->axes[k];
        done[k] = true;
        apart = apart || dml_magnitude(axis->src_stride) - (span.end - span.begin) >= LEAST_PAGE;
        job->apart[k] = apart;
        if (!apart)
            dml_span_grow(&span, axis->extent, axis->src_stride);
    }
    job->begin = src + span.begin;
    job->end = src + span.end;
}

static void choose_kernel(const dml_plan *plan, const char *src, dml_host_job *job)
{
    job->item = plan->item;
    find_readable(plan, src, job);
    dml_tiles_fit tiles = dml_tiles_choose(plan, job);
    if (tiles < DML_TILES_BEST && !dml_table_choose(plan, job) && tiles == DML_TILES_NONE)
        dml_items_choose(plan, job);
}

static void run_loops(loops *all, int depth, const char *src, char *dst)
{
    const loop *loop = &all->loops[depth];
    const dml_host_axis *axis = &loop->axis;
    const int64_t apart = loop->begin ? 0 : axis->apart;
    for (int64_t i = 0; i < axis->extent; i += axis->step, src += axis->step * axis->src, dst += axis->step * axis->dst) {
        if (loop->begin) {
            *loop->begin = i;
            *loop->count = dml_smaller(axis->step, axis->extent - i);
        }
        if (depth + 1 < all->count)
            run_loops(all, depth + 1, src, dst);
        else
            all->job.kernel(&all->job, src, dst, &all->block);
        all->job.begin += apart;
        all->job.end += apart;
    }
    all->job.begin -= apart * axis->extent;
    all->job.end -= apart * axis->extent;
}

void dml_host_run_plain(const dml_plan *plan, const char *src, char *dst)
{
    if (plan->rank == 0) {
        memcpy(dst + plan->dst_offset, src + plan->src_offset, (size_t)plan->item);
        return;
    }
    loops all;
    all.count = 0;
    choose_kernel(plan, src, &all.job);
    for (int k = 0; k < plan->rank; k++)
        if (!all.job.taken[k])
            add_loop(&all, dml_host_steps(plan, &all.job, k, 1), NULL, NULL);
    add_loop(&all, all.job.row, &all.block.row, &all.block.rows);
    add_loop(&all, all.job.col, &all.block.col, &all.block.cols);
    run_loops(&all, 0, src + plan->src_offset, dst + plan->dst_offset);
}
