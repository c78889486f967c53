#include "plan/overlap.h"

#include <stdlib.h>

void dml_footprint_init(dml_footprint *footprint, const void *space, int64_t first, const dml_tensor *tensor, dml_reach *axes)
{
    *footprint =
        (dml_footprint){.space = space, .begin = first, .end = first + tensor->item, .run = tensor->item, .axes = axes};
    for (int k = 0; k < tensor->rank; k++) {
        if (tensor->shape[k] < 2)
            continue;
        dml_reach axis = {tensor->shape[k], dml_magnitude(tensor->strides[k])};
        int64_t bytes = (axis.extent - 1) * axis.stride;
        footprint->begin -= tensor->strides[k] < 0 ? bytes : 0;
        footprint->end += tensor->strides[k] < 0 ? 0 : bytes;
        int at = footprint->rank++;
        for (; at > 0 && axes[at - 1].stride > axis.stride; at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
    }
    while (footprint->rank > 0 && footprint->axes->stride == footprint->run) {
        footprint->run *= footprint->axes->extent;
        footprint->axes++;
        footprint->rank--;
    }
}

/* --- without a look at the runs ------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const dml_footprint *one = a, *other = b;
    if (one->space != other->space)
        return (uintptr_t)one->space < (uintptr_t)other->space ? -1 : 1;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

/* How many of sorted footprints, from the first on, form a group: each begins before the end of one before it. */
static int64_t group_size(const dml_footprint *footprints, int64_t count)
{
    int64_t size = 1, end = footprints[0].end;
    while (size < count && footprints[size].space == footprints[0].space && footprints[size].begin < end) {
        end = footprints[size].end > end ? footprints[size].end : end;
        size++;
    }
    return size;
}

static bool has_outer(const dml_footprint *footprint, int64_t stride)
{
    return footprint->rank > 0 && footprint->axes[footprint->rank - 1].stride == stride;
}

/* Where a footprint ends without its outer axis, if that has this stride. */
static int64_t end_without(const dml_footprint *footprint, int64_t stride)
{
    int64_t extent = has_outer(footprint, stride) ? footprint->axes[footprint->rank - 1].extent : 1;
    return footprint->end - (extent - 1) * stride;
}

/* Leaves out the axes of the largest stride, if it steps over all that the group reaches without them: two runs can share a
 * byte only at the same index of such an axis, and if they do, they also do at index 0. */
static bool leave_out(dml_footprint *group, int64_t size)
{
    int64_t stride = 0, end = group[0].begin;
    for (int64_t i = 0; i < size; i++)
        if (group[i].rank > 0 && group[i].axes[group[i].rank - 1].stride > stride)
            stride = group[i].axes[group[i].rank - 1].stride;
    for (int64_t i = 0; i < size; i++)
        end = end_without(&group[i], stride) > end ? end_without(&group[i], stride) : end;
    if (end - group[0].begin > stride)
        return false;
    for (int64_t i = 0; i < size; i++) {
        group[i].end = end_without(&group[i], stride);
        group[i].rank -= has_outer(&group[i], stride);
    }
    return true;
}

/* --- run by run ----------------------------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sets bits [begin, end). True if one is set already. */
static bool set_bits(uint64_t *bits, int64_t begin, int64_t end)
{
    uint64_t found = 0;
    while (begin < end) {
        int64_t shift = begin % 64, count = end - begin < 64 - shift ? end - begin : 64 - shift;
        uint64_t mask = UINT64_MAX >> (64 - count) << shift;
        found |= bits[begin / 64] & mask;
        bits[begin / 64] |= mask;
        begin += count;
    }
    return found;
}

/* Sets a bit for each `unit` bytes of all runs, from byte `base` on. True if one is set already. */
static bool mark(uint64_t *bits, int64_t unit, int64_t base, const dml_footprint *footprint)
{
    int64_t index[DML_MAX_RANK] = {0}, at = (footprint->begin - base) / unit, run = footprint->run / unit;
    dml_reach axes[DML_MAX_RANK] = {{0, 0}};
    for (int k = 0; k < footprint->rank; k++)
        axes[k] = (dml_reach){footprint->axes[k].extent, footprint->axes[k].stride / unit};
    while (!set_bits(bits, at, at + run)) {
        int k = 0;
        for (; k < footprint->rank && ++index[k] == axes[k].extent; k++) {
            at -= (axes[k].extent - 1) * axes[k].stride;
            index[k] = 0;
        }
        if (k == footprint->rank)
            return false;
        at += axes[k].stride;
    }
    return true;
}

/* Whether a footprint has more bytes than it spans, so that some are shared: of its first axes, or of all. */
static bool is_crowded(const dml_footprint *footprint)
{
    int64_t bytes = footprint->run, span = footprint->run;
    for (int k = 0; k < footprint->rank && bytes <= span; k++) {
        bytes *= footprint->axes[k].extent;
        span += (footprint->axes[k].extent - 1) * footprint->axes[k].stride;
    }
    return bytes > span;
}

/* A map of what a group spans, with a bit for each `unit` bytes, which divide all begins, runs and strides. */
typedef struct byte_map {
    int64_t base;
    int64_t unit;
    size_t size; /* 64-bit integers that have these bits */
} byte_map;

static byte_map map_of(const dml_footprint *group, int64_t size)
{
    byte_map map = {.base = group[0].begin};
    int64_t end = map.base, unit = group[0].run;
    for (int64_t i = 0; i < size; i++) {
        end = group[i].end > end ? group[i].end : end;
        unit = gcd(gcd(unit, group[i].begin - map.base), group[i].run);
        for (int k = 0; k < group[i].rank; k++)
            unit = gcd(unit, group[i].axes[k].stride);
    }
    map.unit = unit > 0 ? unit : 1; /* no run is empty */
    map.size = (size_t)((end - map.base) / map.unit / 64 + 1);
    return map;
}

/* Marks `first`, and then the others in their order. Returns how many of these share no byte with what is marked before; -1
 * without memory. With `first` NULL, nothing is marked before. */
static int64_t mark_all(const byte_map *map, const dml_footprint *first, const dml_footprint *others, int64_t count)
{
    uint64_t *bits = calloc(map->size, sizeof *bits);
    int64_t apart = bits ? 0 : -1;
    if (bits && first)
        mark(bits, map->unit, map->base, first);
    while (bits && apart < count && !mark(bits, map->unit, map->base, &others[apart]))
        apart++;
    free(bits);
    return apart;
}

static dml_overlap compare(const dml_footprint *group, int64_t size, int64_t pair[2])
{
    for (int64_t i = 0; i < size; i++) {
        pair[0] = pair[1] = group[i].index;
        if (is_crowded(&group[i]))
            return DML_OVERLAP;
    }
    const byte_map map = map_of(group, size);
    int64_t found = mark_all(&map, NULL, group, size);
    /* Which one it shares bytes with; none of these share any with each other. If there is none, with itself. */
    int64_t other = found >= 0 && found < size ? mark_all(&map, &group[found], group, found) : found;
    if (found < 0 || other < 0)
        return DML_OVERLAP_NO_MEMORY;
    if (found == size)
        return DML_APART;
    bool ordered = group[other].index < group[found].index;
    pair[0] = group[ordered ? other : found].index;
    pair[1] = group[ordered ? found : other].index;
    return DML_OVERLAP;
}

dml_overlap dml_find_overlap(dml_footprint *footprints, int64_t count, bool wait, int64_t pair[2])
{
    int64_t size = 0;
    bool more = count > 0;
    qsort(footprints, (size_t)count, sizeof *footprints, by_place);
    for (int pass = 0; pass < DML_MAX_RANK && more; pass++) {
        more = false;
        for (int64_t i = 0; i < count; i += size) {
            size = group_size(&footprints[i], count - i);
            more = leave_out(&footprints[i], size) || more;
        }
    }
    dml_overlap found = DML_APART;
    for (int64_t i = 0; i < count && !found; i += size) {
        size = group_size(&footprints[i], count - i);
        bool alone = size == 1 && footprints[i].rank == 0;
        if (!alone)
            found = wait ? compare(&footprints[i], size, pair) : DML_OVERLAP_UNKNOWN;
    }
    return found;
}
