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

bool dml_find_overlap(dml_footprint *footprints, int64_t count, int64_t pair[2])
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
    for (int64_t i = 0; i < count; i += size) {
        size = group_size(&footprints[i], count - i);
        const int64_t one = footprints[i].index, other = footprints[size > 1 ? i + 1 : i].index;
        pair[0] = one < other ? one : other;
        pair[1] = one < other ? other : one;
        if (size > 1 || footprints[i].rank > 0)
            return true;
    }
    return false;
}
