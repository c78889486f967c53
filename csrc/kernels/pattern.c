#include "kernels/schedule.h"

/* An inner axis as the kernel has it: the stride of the streams' axis is 0, since each stream has a window of its own. */
static dml_axis inner_axis(const dml_rows *rows, int i)
{
    if (i >= rows->inners)
        return (dml_axis){.extent = 1};
    const dml_axis *axis = &rows->plan->axes[rows->inner[i]];
    return (dml_axis){.extent = axis->extent, .src_stride = rows->stream == i + 1 ? 0 : axis->src_stride};
}

static int64_t item_bytes(const dml_rows *rows)
{
    return rows->row < 0 ? rows->element : rows->plan->item;
}

static int64_t window_stride(const dml_rows *rows)
{
    return rows->window_axis < 0 ? 0 : rows->plan->axes[rows->window_axis].src_stride;
}

static int64_t below(int64_t extent, int64_t stride)
{
    return stride < 0 ? (extent - 1) * stride : 0;
}

/* The lowest source offset of a tile's window, from its first element's. */
static int64_t lowest(const dml_rows *rows, int64_t stride)
{
    int64_t low = below(rows->tile, stride) + below(rows->per_window, window_stride(rows));
    for (int i = 0; i < rows->inners; i++) {
        dml_axis axis = inner_axis(rows, i);
        low += below(axis.extent, axis.src_stride);
    }
    return low;
}

/* Source offset of a tile's byte from its first element's, within its stream; `stream` says which. */
static int64_t source_of(const dml_rows *rows, int64_t stride, int64_t byte, int64_t *stream)
{
    int64_t item = item_bytes(rows), element = dml_quotient(byte, rows->element), within = byte - element * rows->element;
    int64_t index = dml_quotient(within, item), offset = element * stride + within - index * item;
    *stream = 0;
    for (int i = 0; i < rows->inners; i++) {
        dml_axis axis = inner_axis(rows, i);
        int64_t further = dml_quotient(index, axis.extent), x = index - further * axis.extent;
        index = further;
        offset += x * axis.src_stride;
        if (rows->stream == i + 1)
            *stream = x;
    }
    return offset;
}

/* Whether groups of so many bytes of a tile lie together, and at a multiple of as many from the window's begin. */
static bool stay_together(const dml_rows *rows, int64_t stride, int unit)
{
    int64_t low = lowest(rows, stride), first = 0, stream, first_stream = 0;
    const int64_t within = unit - 1;
    if (window_stride(rows) & within)
        return false;
    const int64_t together = dml_divisor((uint64_t)item_bytes(rows), unit); /* bytes of an item are neighbours */
    for (int64_t byte = 0; byte < rows->tile * rows->element; byte += together) {
        int64_t at = source_of(rows, stride, byte, &stream);
        if ((byte & within) == 0) {
            first = at;
            first_stream = stream;
        }
        if (stream != first_stream || at != first + (byte & within) || (first - low) & within)
            return false;
    }
    return true;
}

static int32_t largest_unit(const dml_rows *rows, int64_t stride)
{
    int unit = 8;
    while (unit > 1 && !stay_together(rows, stride, unit))
        unit /= 2;
    return unit;
}

/* What all windows' addresses are a multiple of. Where heads differ a window may start at any element, and where a row's
 * last tile overlaps the one before it, at any whole word's. */
static int32_t window_alignment(const dml_rows *rows, bool overlap, uint32_t src)
{
    bool reversed = dml_rows_are_reversed(rows);
    int64_t low = lowest(rows, reversed ? -rows->stride : rows->stride), head = rows->head;
    uint64_t all = dml_rows_strides(rows) | (uint64_t)((overlap ? dml_rows_period(rows) : rows->tile) * rows->stride);
    if (head < 0) {
        all |= (uint64_t)rows->stride;
        head = 0;
    }
    all |= (uint64_t)(src + head * rows->stride + low);
    if (reversed)
        all |= (uint64_t)lowest(rows, rows->stride) | (uint64_t)low;
    int64_t alignment = dml_divisor(
        all, dml_rows_window_words(rows, rows->tile) % 4 == 0 ? 32 : 16); /* four words are loaded at a time, or two */
    return alignment < 8 ? 1 : (int32_t)alignment;
}

void dml_pattern_encode(const dml_rows *rows, uint32_t src, int32_t *c)
{
    bool reversed = dml_rows_are_reversed(rows), overlap = dml_rows_have_ends(rows) || rows->extent % rows->tile != 0;
    if (rows->plan->reversed >= 0)
        c[DML_ENTRIES_WAY] = reversed ? DML_ENTRIES_ROW : DML_ENTRIES_ADVANCE;
    if (!overlap)
        c[DML_SCALAR] = 0;
    c[DML_ROWS_ITEM] = (int32_t)item_bytes(rows);
    for (int i = 0; i < DML_MAX_INNERS; i++) {
        c[DML_ROWS_EXTENT_0 + 2 * i] = (int32_t)inner_axis(rows, i).extent;
        c[DML_ROWS_STRIDE_0 + 2 * i] = (int32_t)inner_axis(rows, i).src_stride;
    }
    c[DML_ROWS_STREAM] = rows->stream;
    c[DML_ROWS_STRIDE] = (int32_t)(reversed ? -rows->stride : rows->stride);
    c[DML_ROWS_TILE] = (int32_t)rows->tile;
    c[DML_ROWS_WORD] = rows->word;
    c[DML_ROWS_PER_WINDOW] = (int32_t)rows->per_window;
    c[DML_ROWS_WINDOW_STRIDE] = (int32_t)window_stride(rows);
    c[DML_ROWS_PHASE] = (int32_t)rows->phase;
    c[DML_ROWS_SKEW] = (int32_t)rows->skew;
    c[DML_ROWS_UNIT] = largest_unit(rows, c[DML_ROWS_STRIDE]);
    if (reversed)
        c[DML_ROWS_FORWARD_UNIT] = largest_unit(rows, rows->stride);
    c[DML_ROWS_ALIGN] = window_alignment(rows, overlap, src);
}
