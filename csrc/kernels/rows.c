#include "kernels/rows.h"

#include "abi.h"

enum { WINDOW_BYTES = 8 * DML_MAX_WINDOW_WORDS };

int dml_rows_streams(const dml_rows *rows)
{
    return rows->stream ? (int)rows->plan->axes[rows->inner[rows->stream - 1]].extent : 1;
}

int64_t dml_rows_period(const dml_rows *rows)
{
    return dml_quotient(rows->word, dml_divisor((uint64_t)rows->element, rows->word));
}

bool dml_rows_have_ends(const dml_rows *rows)
{
    return rows->head != 0 || (rows->extent & (dml_rows_period(rows) - 1)) != 0;
}

bool dml_rows_are_reversed(const dml_rows *rows)
{
    return rows->row >= 0 && rows->plan->reversed == rows->row;
}

bool dml_rows_fill_gaps(const dml_rows *rows)
{
    return rows->tunables->overlap_misses && dml_plan_reads_all(rows->plan);
}

int64_t dml_rows_window_words(const dml_rows *rows, int64_t elements)
{
    return ((elements - 1) * dml_magnitude(rows->stride) + rows->reach + 7) / 8;
}

/* Most destination bytes of a tile. One of 8-byte words has several short rows, and may be twice as large. */
static int64_t most_bytes(const dml_rows *rows)
{
    return rows->tunables->tile_bytes * (rows->word == 8 ? 2 : 1);
}

/* A window that is not aligned takes one word more. */
bool dml_rows_fits(const dml_rows *rows, int64_t elements)
{
    return elements * rows->element <= most_bytes(rows) && dml_magnitude(rows->stride) <= WINDOW_BYTES &&
           (dml_rows_window_words(rows, elements) + 1) * dml_rows_streams(rows) <= DML_MAX_WINDOW_WORDS;
}

/* --- axes ------------------------------------------------------------------------------------------------------ */

dml_axis dml_rows_outer_axis(const dml_rows *rows, int k)
{
    dml_axis axis = rows->plan->axes[k];
    if (k == rows->window_axis) {
        axis.extent /= rows->per_window;
        axis.src_stride *= rows->per_window;
        axis.dst_stride *= rows->per_window;
    }
    return axis;
}

bool dml_rows_is_outer(const dml_rows *rows, int k)
{
    bool inner = rows->inners > 0 && k >= rows->inner[rows->inners - 1];
    return dml_rows_outer_axis(rows, k).extent > 1 && k != rows->row && !inner;
}

uint64_t dml_rows_strides(const dml_rows *rows)
{
    uint64_t all = rows->stream ? (uint64_t)rows->plan->axes[rows->inner[rows->stream - 1]].src_stride : 0;
    for (int k = 0; k < rows->plan->rank; k++)
        if (dml_rows_is_outer(rows, k))
            all |= (uint64_t)dml_rows_outer_axis(rows, k).src_stride;
    for (int k = 0; k < rows->plan->gathered; k++)
        all |= (uint64_t)rows->plan->gathers[k].src_stride;
    return all;
}

/* --- the row axis ---------------------------------------------------------------------------------------------- */

static bool can_be_row(const dml_rows *rows, int k)
{
    const dml_plan *plan = rows->plan;
    return plan->axes[k].entry_stride == 0 && (plan->reversed != k || rows->inners == 0) &&
           dml_rows_fits(rows, dml_rows_period(rows));
}

static bool make_inner(dml_rows *rows, int k)
{
    const dml_tunables *tunables = rows->tunables;
    const dml_axis *axis = &rows->plan->axes[k];
    int64_t stride = dml_magnitude(axis->src_stride), reach = (axis->extent - 1) * stride;
    bool near = stride <= tunables->near_stride && reach <= WINDOW_BYTES;
    if (rows->inners == DML_MAX_INNERS || rows->plan->reversed == k || axis->entry_stride != 0 ||
        rows->element * axis->extent > most_bytes(rows) || (!near && (rows->stream || axis->extent > tunables->max_streams)))
        return false;
    rows->inner[rows->inners++] = k;
    rows->element *= axis->extent;
    if (near)
        rows->reach += reach;
    else
        rows->stream = rows->inners;
    return true;
}

/* Among the axes that are contiguous in the destination, the innermost that makes rows long enough, or the one that makes
 * the longest. Those further in become part of an element. */
static bool find_pattern(dml_rows *rows)
{
    const dml_plan *plan = rows->plan;
    dml_rows candidate = *rows;
    int64_t longest = 0;
    candidate.element = candidate.reach = plan->item;
    for (int k = plan->rank - 1; k >= 0 && plan->axes[k].dst_stride == candidate.element; k--) {
        int64_t bytes = plan->axes[k].extent * candidate.element;
        candidate.stride = plan->axes[k].src_stride;
        if (bytes > longest && can_be_row(&candidate, k)) {
            longest = bytes;
            *rows = candidate;
            rows->row = k;
        }
        if (longest >= rows->tunables->long_row || !make_inner(&candidate, k))
            break;
    }
    return longest > 0;
}

/* Whether any element may begin at a word, in all rows. */
static bool meets_words(const dml_rows *rows, uint32_t dst)
{
    uint64_t all = dst;
    for (int k = 0; k < rows->plan->rank; k++)
        if (dml_rows_is_outer(rows, k))
            all |= (uint64_t)rows->plan->axes[k].dst_stride;
    return dml_divisor(all, rows->word) >= dml_divisor((uint64_t)rows->element, rows->word);
}

static int64_t common_head(const dml_rows *rows, uint32_t dst)
{
    if (dml_rows_are_reversed(rows))
        return -1;
    for (int k = 0; k < rows->plan->rank; k++)
        if (dml_rows_is_outer(rows, k) && (rows->plan->axes[k].dst_stride & (rows->word - 1)) != 0)
            return -1;
    int64_t head = 0;
    while ((dst + head * rows->element) & (rows->word - 1))
        head++;
    return head;
}

/* Bytes of the largest integer that divides an item and the destination's offset and strides, whatever those of the source. */
static int64_t edge_bytes(const dml_plan *plan, uint32_t dst)
{
    uint64_t all = (uint64_t)plan->item | dst;
    for (int k = 0; k < plan->rank; k++)
        all |= (uint64_t)plan->axes[k].dst_stride;
    return dml_divisor(all, 8);
}

bool dml_rows_find(const dml_plan *plan, const dml_tunables *tunables, int word, uint32_t dst, dml_rows *rows)
{
    const dml_rows none = {.plan = plan, .tunables = tunables, .word = word, .row = -1, .window_axis = -1, .per_window = 1};
    *rows = none;
    if (plan->item <= tunables->max_item && find_pattern(rows) && meets_words(rows, dst)) {
        rows->extent = plan->axes[rows->row].extent;
    } else if (plan->item >= 16) {
        *rows = none;
        rows->element = rows->reach = rows->stride = edge_bytes(plan, dst);
        rows->extent = dml_quotient(plan->item, rows->element);
    } else {
        return false;
    }
    rows->head = common_head(rows, dst);
    rows->tile = dml_rows_period(rows);
    return true;
}

/* --- rows that share a window ----------------------------------------------------------------------------------- */

static int64_t shared_reach(const dml_axis *axis, int64_t rows)
{
    return (rows - 1) * dml_magnitude(axis->src_stride);
}

/* How many neighbours on an axis may share a window. Words that are repeated need no registers of their own. */
static int64_t most_per_window(const dml_rows *rows, const dml_axis *axis)
{
    int64_t own = axis->src_stride == 0 ? rows->word : rows->tile * rows->element;
    int64_t most = axis->extent, room = dml_quotient(most_bytes(rows), own);
    for (most = most < room ? most : room; most > 1; most--) {
        dml_rows candidate = *rows;
        candidate.reach += shared_reach(axis, most);
        if (axis->extent % most == 0 && dml_rows_fits(&candidate, rows->tile))
            break;
    }
    return most;
}

/* An outer axis whose source interleaves with the row's, as the columns of space_to_depth's blocks, or that repeats it. */
void dml_rows_set_tile(dml_rows *rows, int64_t elements)
{
    const dml_plan *plan = rows->plan;
    rows->tile = elements;
    if (rows->stream || dml_rows_are_reversed(rows))
        return;
    int rank = rows->row < 0 ? plan->rank : rows->row;
    for (int k = 0; k < rank; k++) {
        const dml_axis *axis = &plan->axes[k];
        if (k == plan->reversed || axis->entry_stride != 0 || (axis->dst_stride & (rows->word - 1)) != 0 ||
            dml_magnitude(axis->src_stride) >= dml_magnitude(rows->stride))
            continue;
        int64_t most = most_per_window(rows, axis);
        if (most > rows->per_window) {
            rows->window_axis = k;
            rows->per_window = most;
        }
    }
    if (rows->window_axis >= 0)
        rows->reach += shared_reach(&plan->axes[rows->window_axis], rows->per_window);
}

/* --- words ---------------------------------------------------------------------------------------------------------- */

/* The innermost axis of more than one index, but for one (or -1). */
static int innermost(const dml_plan *plan, int but)
{
    int k = plan->rank - 1;
    while (k >= 0 && (plan->axes[k].extent == 1 || k == but))
        k--;
    return k;
}

static bool can_be_words(const dml_plan *plan, int k, int32_t scalar)
{
    if (plan->item != scalar || k == plan->reversed || plan->axes[k].entry_stride != 0)
        return false;
    int64_t stride = dml_magnitude(plan->axes[k].src_stride);
    return stride >= scalar && stride <= DML_MAX_WORDS_STRIDE * (int64_t)scalar;
}

bool dml_words_find(const dml_plan *plan, int32_t scalar, dml_words *words)
{
    if (!dml_plan_is_dense(plan))
        return false;
    int axis = innermost(plan, -1);
    if (axis >= 0 && !can_be_words(plan, axis, scalar))
        axis = -1;
    *words = (dml_words){.plan = plan, .axis = axis, .scalar = scalar, .row = plan->item, .ratio = 1};
    if (axis >= 0) {
        words->row = plan->axes[axis].extent * scalar;
        words->ratio = plan->axes[axis].src_stride / scalar;
    }
    int next = innermost(plan, axis);
    words->pitch = next < 0 ? 0 : dml_magnitude(plan->axes[next].src_stride);
    return true;
}
