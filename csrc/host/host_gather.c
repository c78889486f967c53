#include "host/host_gather.h"

#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "plan/odometer.h"

/* A block is so many elements with an entry each. Their source offsets are made first, and then they are moved: loops of one
 * kind of entry, and loops of one size of items. Items are prefetched where those that entries name are further apart than
 * NEAR_BYTES, as a core's own cache does not hold them. */
enum { BLOCK = 256, AHEAD = 8, LINE = 64, FAR_ITEM = 1024, NEAR_BYTES = 256 * 1024 };

/* What several threads look through: chunks of at least so many entries, and at most so many chunks. */
enum { MIN_CHUNK = 16 * 1024, MOST_CHUNKS = 64 };

/* --- entries -------------------------------------------------------------------------------------------------------- */

/* An integer of the machine's byte order as one of 64 bits; one beyond these is the largest. */
DML_INLINE int64_t integer_at(const char *from, const int item, const bool is_signed)
{
    int64_t wide;
    int32_t word;
    int16_t half;
    memcpy(&wide, from, item == 8 ? 8 : 0);
    memcpy(&word, from, item == 4 ? 4 : 0);
    memcpy(&half, from, item == 2 ? 2 : 0);
    if (item == 8)
        return is_signed || wide >= 0 ? wide : INT64_MAX;
    if (item == 4)
        return is_signed ? word : (int64_t)(uint32_t)word;
    if (item == 2)
        return is_signed ? half : (int64_t)(uint16_t)half;
    return is_signed ? *(const signed char *)from : (int64_t)*(const unsigned char *)from;
}

/* An index of an axis. Those out of range are rare: the branch is predicted. */
DML_INLINE int64_t index_at(const dml_entries *entries, const char *from, int64_t extent, const int item, const bool is_signed)
{
    return dml_entries_clamp(entries, (uint64_t)integer_at(from, item, is_signed), extent, is_signed);
}

/* Adds the source offsets of one gathered axis. */
DML_INLINE void add_axis(const dml_entries *entries, const dml_gathered *axis, const char *from, int64_t stride, int64_t count,
                         int64_t *offsets, const int item, const bool is_signed)
{
    const int64_t extent = axis->extent, src_stride = axis->src_stride;
    for (int64_t i = 0; i < count; i++)
        offsets[i] += index_at(entries, from + i * stride, extent, item, is_signed) * src_stride;
}

/* Where one is wrong, some difference is below 0. An index -1 - i, from the end, is right where i is. */
DML_INLINE bool has_wrong(const char *from, int64_t stride, int64_t count, int64_t extent, const int item, const bool is_signed)
{
    uint64_t signs = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = integer_at(from + i * stride, item, is_signed);
        signs |= (uint64_t)(extent - 1 - (index < 0 ? ~index : index));
    }
    return signs >> 63;
}

/* Calls a function for each kind of integer in the machine's byte order. */
#define EACH_KIND(entries, call)                                                                                               \
    switch ((entries)->item) {                                                                                                 \
    case 8:                                                                                                                    \
        return (entries)->is_signed ? call(8, true) : call(8, false);                                                          \
    case 4:                                                                                                                    \
        return (entries)->is_signed ? call(4, true) : call(4, false);                                                          \
    case 2:                                                                                                                    \
        return (entries)->is_signed ? call(2, true) : call(2, false);                                                          \
    default:                                                                                                                   \
        return (entries)->is_signed ? call(1, true) : call(1, false);                                                          \
    }

static void add_indices(const dml_entries *entries, const dml_gathered *axis, int64_t offset, int64_t stride, int64_t count,
                        int64_t *offsets)
{
    offset += axis->entry_offset;
    for (int64_t i = 0; i < count && entries->swapped; i++)
        offsets[i] += dml_entries_index(entries, offset + i * stride, axis->extent) * axis->src_stride;
    if (entries->swapped)
        return;
    const char *from = (const char *)entries->data + offset;
#define ADD(item, is_signed) add_axis(entries, axis, from, stride, count, offsets, item, is_signed)
    EACH_KIND(entries, ADD)
}

static bool block_has_wrong(const dml_entries *entries, int64_t offset, int64_t stride, int64_t count, int64_t extent)
{
    const char *from = (const char *)entries->data + offset;
#define HAS_WRONG(item, is_signed) has_wrong(from, stride, count, extent, item, is_signed)
    EACH_KIND(entries, HAS_WRONG)
}

typedef struct search {
    const dml_entries *entries;
    int64_t offset, stride, count, extent;
    int64_t chunk; /* entries of one */
    bool *wrong;   /* of each chunk, whether it has a wrong one */
} search;

static void search_chunk(const void *argument, int64_t index)
{
    const search *s = argument;
    const int64_t first = index * s->chunk;
    s->wrong[index] = block_has_wrong(s->entries, s->offset + first * s->stride, s->stride,
                                      dml_smaller(s->chunk, s->count - first), s->extent);
}

int64_t dml_entries_find_wrong(const dml_entries *entries, int64_t offset, int64_t stride, int64_t count, int64_t extent)
{
    bool wrong[MOST_CHUNKS];
    const search s = {entries, offset, stride, count, extent, dml_larger(dml_ceil_div(count, MOST_CHUNKS), MIN_CHUNK), wrong};
    const int64_t chunks = dml_ceil_div(count, s.chunk);
    dml_parallel(search_chunk, &s, 0, chunks, NULL);
    int64_t first = 0;
    while (first < chunks && !wrong[first])
        first++;
    for (first *= s.chunk; first < count; first++)
        if (block_has_wrong(entries, offset + first * stride, stride, 1, extent))
            return first;
    return -1;
}

/* --- items ---------------------------------------------------------------------------------------------------------- */

/* The first lines of an item that is moved later: those behind are foreseen by the processor. */
DML_INLINE void prefetch(const char *src, int64_t item)
{
    for (int64_t at = 0; at < dml_smaller(item, FAR_ITEM); at += LINE)
        DML_PREFETCH(src + at);
}

/* `size` is that of an item where the compiler is to know it, else 0. */
DML_INLINE void move_items(const char *src, const int64_t *offsets, char *dst, int64_t stride, int64_t count, int64_t item,
                           bool far, const int size)
{
    int64_t i = 0;
    for (; i < count - AHEAD && far; i++) {
        prefetch(src + offsets[i + AHEAD], size > 0 ? 1 : item);
        memcpy(dst + i * stride, src + offsets[i], (size_t)(size > 0 ? size : item));
    }
    for (; i < count; i++)
        memcpy(dst + i * stride, src + offsets[i], (size_t)(size > 0 ? size : item));
}

static void move_block(const char *src, const int64_t *offsets, char *dst, int64_t stride, int64_t count, int64_t item,
                       bool far)
{
#define MOVE(size) move_items(src, offsets, dst, stride, count, item, far, size)
    if (item == 1)
        MOVE(1);
    else if (item == 2)
        MOVE(2);
    else if (item == 4)
        MOVE(4);
    else if (item == 8)
        MOVE(8);
    else if (item == 16)
        MOVE(16);
    else
        MOVE(0);
}

/* --- axes ----------------------------------------------------------------------------------------------------------- */

typedef struct gather {
    const dml_plan *plan;
    int entries;          /* the axis that blocks lie along, */
    int same;             /* and one whose elements have the same entries, or -1 */
    bool far;             /* whether items are prefetched */
    int64_t reach, ahead; /* bytes that indices of an axis choose from; how far the next ones are, 0 if not prefetched */
} gather;

/* Moves each item as its index is read. Indices of one gathered axis and items are neighbours, of sizes that are common. */
DML_INLINE void move_along(const dml_plan *plan, const char *src, int64_t stride, char *dst, int64_t entry, int64_t count,
                           const int index, const int item)
{
    const int64_t extent = plan->gathers[0].extent, gathered = plan->gathers[0].src_stride;
    const char *from = (const char *)plan->entries.data + entry + plan->gathers[0].entry_offset;
    int64_t i = 0;
    for (; i < count; i++, src += stride) { /* few instructions, as long as no index counts from the axis' end */
        const int64_t at = integer_at(from + i * index, index, true);
        if ((uint64_t)at >= (uint64_t)extent)
            break;
        memcpy(dst + i * item, src + at * gathered, (size_t)item);
    }
    for (; i < count; i++, src += stride)
        memcpy(dst + i * item, src + index_at(&plan->entries, from + i * index, extent, index, true) * gathered, (size_t)item);
}

static bool moves_along(const dml_plan *plan, const dml_axis *axis, const char *src, char *dst, int64_t entry, int64_t count)
{
    const dml_entries *entries = &plan->entries;
    const bool fits = plan->gathered == 1 && entries->is_signed && !entries->swapped && axis->entry_stride == entries->item &&
                      axis->dst_stride == plan->item;
#define ALONG(index, size)                                                                                                     \
    (entries->item == (index) && plan->item == (size) &&                                                                       \
     (move_along(plan, src, axis->src_stride, dst, entry, count, index, size), true))
    return fits && (ALONG(8, 1) || ALONG(8, 2) || ALONG(8, 4) || ALONG(8, 8) || ALONG(4, 1) || ALONG(4, 2) || ALONG(4, 4) ||
                    ALONG(4, 8));
}

/* The elements of a block, for all indices of the other axis. */
static void run_block(const gather *g, const char *src, char *dst, int64_t entry, int64_t count)
{
    const dml_plan *plan = g->plan;
    const dml_axis one = {.extent = 1}, *axis = &plan->axes[g->entries], *same = g->same < 0 ? &one : &plan->axes[g->same];
    int64_t offsets[BLOCK];
    if (g->same < 0 && !g->far && moves_along(plan, axis, src, dst, entry, count))
        return;
    for (int64_t i = 0; i < count; i++)
        offsets[i] = i * axis->src_stride;
    for (int k = 0; k < plan->gathered; k++)
        add_indices(&plan->entries, &plan->gathers[k], entry, axis->entry_stride, count, offsets);
    for (int64_t i = 0; i < same->extent; i++)
        move_block(src + i * same->src_stride, offsets, dst + i * same->dst_stride, axis->dst_stride, count, plan->item,
                   g->far);
}

/* What the indices behind these choose from, in the order of memory: hardware prefetch finds none of what they choose. */
static void prefetch_ahead(const gather *g, const char *src, int64_t first, int64_t count)
{
    const int64_t extent = g->plan->axes[g->entries].extent;
    for (int64_t at = g->reach * first / extent; at < g->reach * (first + count) / extent; at += LINE)
        DML_PREFETCH(src + g->ahead + at);
}

/* The axis of entries, block by block. */
DML_OUTLINE void run_blocks(const gather *g, const char *src, char *dst, int64_t entry)
{
    const dml_axis *axis = &g->plan->axes[g->entries];
    for (int64_t i = 0; i < axis->extent; i += BLOCK, src += BLOCK * axis->src_stride, dst += BLOCK * axis->dst_stride) {
        const int64_t count = dml_smaller(BLOCK, axis->extent - i);
        if (g->ahead != 0)
            prefetch_ahead(g, src, i, count);
        run_block(g, src, dst, entry + i * axis->entry_stride, count);
    }
}

static void run_axes(const gather *g, const char *src, char *dst)
{
    dml_odometer at;
    dml_odometer_begin(&at, g->plan);
    for (int k = 0; k < g->plan->rank; k++)
        if (k != g->entries && k != g->same)
            dml_odometer_add(&at, k);
    do
        run_blocks(g, src + at.src, dst + at.dst, at.entry);
    while (dml_odometer_next(&at));
}

void dml_host_run_gather(const dml_plan *plan, const char *src, char *dst)
{
    enum { FEW = 16 };
    gather g = {.plan = plan, .entries = -1, .same = -1, .reach = plan->item};
    for (int k = 0; k < plan->gathered; k++)
        g.reach += (plan->gathers[k].extent - 1) * dml_magnitude(plan->gathers[k].src_stride);
    g.far = g.reach > NEAR_BYTES;
    for (int k = plan->rank - 1; k >= 0; k--) {
        const dml_axis *axis = &plan->axes[k];
        if (axis->entry_stride == 0 && g.same < 0 && (g.entries < 0 || !g.far))
            g.same = k;
        else if (axis->entry_stride != 0 && (g.entries < 0 || (plan->axes[g.entries].extent < FEW && axis->extent >= FEW)))
            g.entries = k;
    }
    const int last = plan->rank - 1 - (g.entries == plan->rank - 1);
    if (!g.far && g.same < 0 && last >= 0 && plan->gathers[0].src_stride > 0 && g.reach <= plan->axes[g.entries].extent * LINE)
        g.ahead = plan->axes[last].src_stride;
    run_axes(&g, src, dst);
}
