/* Random plans, run by the host and byte by byte: fuzz_host PLANS SEED BYTES. Arrays end where the plan does, so that the address
 * sanitizer finds what is touched beyond; test_core.py builds and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "host/host.h"

static uint64_t state;

static int64_t below(int64_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)most);
}

/* --- what a plan means ---------------------------------------------------------------------------------------------- */

/* An integer of any kind, byte by byte, between 0 and `most`. */
static int64_t length_of(const dml_entries *entries, int64_t offset, int64_t most)
{
    const unsigned char *bytes = (const unsigned char *)entries->data + offset;
    uint64_t value = 0;
    for (int64_t i = 0; i < entries->item; i++)
        value = value * 256 + bytes[entries->swapped ? i : entries->item - 1 - i];
    if (entries->is_signed && value >> (8 * entries->item - 1))
        return 0;
    return value < (uint64_t)most ? (int64_t)value : most;
}

/* The index of an axis that an entry is: counted from the end where it is below 0, and clamped. */
static int64_t index_of(const dml_entries *entries, int64_t offset, int64_t extent)
{
    const unsigned char *bytes = (const unsigned char *)entries->data + offset;
    bool negative = entries->is_signed && bytes[entries->swapped ? 0 : entries->item - 1] & 128;
    uint64_t value = negative ? UINT64_MAX : 0;
    for (int64_t i = 0; i < entries->item; i++)
        value = value * 256 + bytes[entries->swapped ? i : entries->item - 1 - i];
    if (negative && -value > (uint64_t)extent)
        return 0;
    value += negative ? (uint64_t)extent : 0;
    return value < (uint64_t)extent ? (int64_t)value : extent - 1;
}

/* The element of index i0, i1, ...; from left to right, `k` axes have theirs. */
static void move_slowly(const dml_plan *plan, int k, int64_t *index, const char *src, char *dst)
{
    if (k < plan->rank) {
        for (index[k] = 0; index[k] < plan->axes[k].extent; index[k]++)
            move_slowly(plan, k + 1, index, src, dst);
        return;
    }
    int64_t from = plan->src_offset, to = plan->dst_offset, entry = plan->entries.offset, length = 0;
    for (int a = 0; a < plan->rank; a++)
        entry += index[a] * plan->axes[a].entry_stride;
    if (plan->reversed >= 0)
        length = length_of(&plan->entries, entry, plan->axes[plan->reversed].extent);
    for (int a = 0; a < plan->rank; a++) {
        int64_t i = index[a];
        if (a == plan->reversed && i < length)
            i = length - 1 - i;
        from += i * plan->axes[a].src_stride;
        to += index[a] * plan->axes[a].dst_stride;
    }
    for (int a = 0; a < plan->gathered; a++) {
        const dml_gathered *axis = &plan->gathers[a];
        from += index_of(&plan->entries, entry + axis->entry_offset, axis->extent) * axis->src_stride;
    }
    if (dml_plan_has_table(plan)) {
        int64_t number = 0;
        for (int64_t b = plan->src_item - 1; b >= 0; b--)
            number = number * 256 + (unsigned char)src[from + b];
        src = plan->entries.data;
        from = entry + number * plan->item;
    }
    for (int64_t b = 0; b < plan->item; b++)
        dst[to + b] = src[from + b];
}

/* --- plans ---------------------------------------------------------------------------------------------------------- */

enum { RANK = 6 };

/* Strides of one side, of items of so many bytes: the axes in any order, either way, some with gaps behind them. */
static void draw_strides(const dml_plan *plan, int64_t item, int64_t strides[RANK])
{
    int order[RANK];
    bool sorted = below(4) == 0;
    for (int k = 0; k < plan->rank; k++)
        order[k] = k;
    for (int k = plan->rank - 1; k > 0 && !sorted; k--) {
        int other = (int)below(k + 1), kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
    int64_t stride = item * (below(6) ? 1 : 2);
    for (int k = plan->rank - 1; k >= 0; k--) {
        strides[order[k]] = below(4) ? stride : -stride;
        stride *= plan->axes[order[k]].extent;
        stride += below(6) ? 0 : item * (1 + below(3));
        if (below(12) == 0)
            stride += 4096 + below(8192);
    }
}

/* `count` integers of any kind in `room`: mostly lengths up to `most`, in as many bytes as they have. */
static dml_entries draw_lengths(unsigned char *room, int64_t count, int64_t most)
{
    const dml_entries entries = {.data = room, .item = INT64_C(1) << below(4), .is_signed = below(2), .swapped = below(2)};
    for (int64_t i = 0; i < count; i++) {
        uint64_t value = below(8) ? (uint64_t)below(most + 1) : state;
        for (int64_t b = 0; b < entries.item; b++)
            room[i * entries.item + (entries.swapped ? entries.item - 1 - b : b)] = (unsigned char)(value >> 8 * b);
    }
    return entries;
}

/* Instead of a reversed axis, up to three axes of the source whose indices are entries. */
static void draw_gathers(dml_plan *plan, unsigned char *room, int64_t count)
{
    plan->gathered = 1 + (int)below(3);
    plan->entries = draw_lengths(room, count, 40);
    for (int k = 0; k < plan->gathered; k++) {
        int64_t extent = 1 + below(40), stride = plan->item * (below(3) - 1) + below(50);
        plan->gathers[k] = (dml_gathered){extent, 0, extent, stride, k * plan->entries.item};
    }
    int64_t stride = plan->gathered * plan->entries.item, left = count / plan->gathered;
    for (int k = plan->rank - 1; k >= 0; k--) {
        if (below(2) || plan->axes[k].extent > left)
            continue;
        plan->axes[k].entry_stride = stride;
        stride *= plan->axes[k].extent;
        left /= plan->axes[k].extent;
    }
}

/* A table for elements of a byte or two, whose rows may overlap. */
static void draw_table(dml_plan *plan)
{
    enum { ITEM = 17, MOST = 300, APART = 100 };
    static unsigned char table[65536 * ITEM + RANK * MOST * APART];
    static bool filled;
    for (size_t i = 0; i < sizeof table && !filled; i++)
        table[i] = (unsigned char)(i * 167 >> 3 ^ i >> 9);
    filled = true;
    plan->src_item = 1 + below(2);
    plan->item = 1 + below(below(2) ? 8 : ITEM);
    plan->entries = (dml_entries){.data = table, .item = (plan->src_item == 1 ? 256 : 65536) * plan->item};
}

static void draw_plan(dml_plan *plan, int64_t bytes, unsigned char *room, int64_t count)
{
    static const int items[] = {1, 1, 1, 1, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100};
    dml_plan_begin(plan, items[below(sizeof items / sizeof *items)]);
    if (below(4) == 0)
        draw_table(plan);
    int rank = (int)below(RANK + 1);
    int64_t left = bytes / plan->item, strides[2][RANK];
    for (int k = 0; k < rank; k++) {
        int64_t most = left < 1 ? 1 : left > 300 ? 300 : left, extent = 1 + below(below(2) ? most : most < 17 ? most : 17);
        dml_plan_add(plan, extent, 0, 0);
        left /= extent;
    }
    draw_strides(plan, dml_plan_src_item(plan), strides[0]);
    draw_strides(plan, plan->item, strides[1]);
    if (rank && below(6) == 0) /* elements that are read again and again, or overlap */
        strides[0][below(rank)] = below(2) ? 0 : below(200) - 100;
    for (int k = 0; k < rank; k++) {
        plan->axes[k].src_stride = strides[0][k];
        plan->axes[k].dst_stride = strides[1][k];
        plan->axes[k].entry_stride = dml_plan_has_table(plan) && below(3) == 0 ? below(100) : 0;
    }
    if (dml_plan_has_table(plan))
        return;
    if (rank && below(4) == 0) {
        int64_t reversed = below(rank), by = below(rank);
        plan->reversed = (int)reversed;
        plan->entries = draw_lengths(room, count, plan->axes[reversed].extent);
        plan->axes[by].entry_stride = by != reversed && plan->axes[by].extent <= count ? plan->entries.item : 0;
    } else if (below(4) == 0) {
        draw_gathers(plan, room, count);
    }
}

/* --- a trial -------------------------------------------------------------------------------------------------------- */

static dml_span source_span(const dml_plan *plan)
{
    dml_span span = {0, dml_plan_src_item(plan)};
    for (int k = 0; k < plan->rank; k++)
        dml_span_grow(&span, plan->axes[k].extent, plan->axes[k].src_stride);
    for (int k = 0; k < plan->gathered; k++)
        dml_span_grow(&span, plan->gathers[k].extent, plan->gathers[k].src_stride);
    return span;
}

/* False if results differ, in the bytes of the plan or in those between. */
static bool try_plan(dml_plan *plan)
{
    int64_t index[RANK];
    const dml_span from = source_span(plan), to = dml_plan_dst_span(plan);
    const size_t read = (size_t)(from.end - from.begin), written = (size_t)(to.end - to.begin);
    if (read + written > 1u << 28)
        return true;
    plan->src_offset = -from.begin;
    plan->dst_offset = -to.begin;
    char *src = malloc(read), *fast = malloc(written), *slow = malloc(written);
    if (!src || !fast || !slow)
        abort();
    for (size_t i = 0; i < read; i++)
        src[i] = (char)(i % 8 ? (uint64_t)src[i - 1] * 167 + 13 : state >> (i % 56));
    memset(fast, 0x5a, written);
    memset(slow, 0x5a, written);
    move_slowly(plan, 0, index, src, slow);
    dml_host_run(plan, src, fast, NULL);
    bool same = memcmp(fast, slow, written) == 0;
    free(src);
    free(fast);
    free(slow);
    return same;
}

int main(int count, char **arguments)
{
    static unsigned char lengths[8 * 300];
    if (count != 4)
        return 2;
    dml_cache_open(1 << 24, 0); /* of which stages are */
    state = 88172645463325252u + 7919u * strtoull(arguments[2], NULL, 10);
    for (int64_t left = atoll(arguments[1]); left > 0; left--) {
        dml_plan plan;
        draw_plan(&plan, 1 + below(atoll(arguments[3])), lengths, 300);
        if (try_plan(&plan))
            continue;
        printf("wrong: item %lld of %lld, reversed %d, gathered %d", (long long)plan.item, (long long)plan.src_item,
               plan.reversed, plan.gathered);
        for (int k = 0; k < plan.rank; k++)
            printf(", {%lld, %lld, %lld, %lld}", (long long)plan.axes[k].extent, (long long)plan.axes[k].src_stride,
                   (long long)plan.axes[k].dst_stride, (long long)plan.axes[k].entry_stride);
        puts("");
        return 1;
    }
    return 0;
}
