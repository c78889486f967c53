#include "core/host.h"

#include <string.h>

typedef struct walk {
    const dml_plan *plan;
    const char *src;
    char *dst;
} walk;

/* The source index of destination index `i` on the reversed axis. */
static int64_t reversed_index(int64_t i, int64_t length)
{
    return i < length ? length - 1 - i : i;
}

/* Writes an item again and again: what is there is doubled. */
static void repeat(char *dst, const char *src, int64_t item, int64_t count)
{
    int64_t done = item, bytes = item * count;
    memcpy(dst, src, (size_t)item);
    for (; done < bytes; done *= 2)
        memcpy(dst + done, dst, (size_t)(done < bytes - done ? done : bytes - done));
}

/* Moves all elements with the indices on axes 0 to k - 1 that the offsets stand for. `src` leaves out the reversed axis. */
static void run_axis(const walk *w, int k, int64_t src, int64_t dst, int64_t length, int64_t reversed_i)
{
    const dml_plan *plan = w->plan;
    if (k == plan->rank) {
        if (plan->reversed >= 0)
            src += reversed_index(reversed_i, plan->lengths[length]) * plan->axes[plan->reversed].src_stride;
        memcpy(w->dst + dst, w->src + src, (size_t)plan->item);
        return;
    }
    const dml_axis *axis = &plan->axes[k];
    if (k == plan->rank - 1 && plan->reversed < 0 && axis->src_stride == 0 && axis->dst_stride == plan->item) {
        repeat(w->dst + dst, w->src + src, plan->item, axis->extent);
        return;
    }
    if (k == plan->rank - 1 && plan->reversed < 0) {
        for (int64_t i = 0; i < axis->extent; i++)
            memcpy(w->dst + dst + i * axis->dst_stride, w->src + src + i * axis->src_stride, (size_t)plan->item);
        return;
    }
    bool reversed = k == plan->reversed;
    for (int64_t i = 0; i < axis->extent; i++)
        run_axis(w, k + 1, src + (reversed ? 0 : i * axis->src_stride), dst + i * axis->dst_stride,
                 length + i * axis->length_stride, reversed ? i : reversed_i);
}

void dml_host_run(const dml_plan *plan, const void *src, void *dst)
{
    dml_plan simple;
    dml_plan_copy(&simple, plan);
    dml_plan_simplify(&simple);
    walk w = {&simple, src, dst};
    run_axis(&w, 0, simple.src_offset, simple.dst_offset, simple.length_offset, 0);
}
