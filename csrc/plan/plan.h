/* A plan: the strided copy that every operator becomes, as plain data.
 *
 * Element (i0, i1, ...) of the plan moves `item` bytes
 *     from  src + src_offset + sum(i[k] * axes[k].src_stride)
 *     to    dst + dst_offset + sum(i[k] * axes[k].dst_stride).
 * An indirect plan reads, beside its source, an entry of a side tensor, at
 *     entries.data + entries.offset + sum(i[k] * axes[k].entry_stride).
 *
 * With a reversed axis, an entry is a length L, an integer clamped to [0, extent of that axis] where it is read: the source
 * index on that axis is not i but L - 1 - i where i < L.
 *
 * With gathered axes, entries are the indices of axes that the source has and the destination has not: an element reads one
 * for each of them. An index below 0 counts from the axis' end, and is then clamped to the axis, where it is read.
 *
 * With a table, an entry is one of its rows. The plan moves no bytes: an element reads `src_item` bytes, 1 or 2, as a number n,
 * the low byte first, and writes the n-th `item` bytes of the row, which has some for every n. A table has some
 * megabytes at most. A device may compute what the table has, if it has found that to give the same bits.
 *
 * With a formula, an entry is a row of constants. An element becomes what the formula makes of it and these. In all else such
 * a plan is like one that has a table.
 *
 * With a sum, an entry is a row of weights: an int32 `first`, and a weight of 4 bytes for each tap. An element writes what the
 * sum makes of its inputs and their weights. Tap j reads the input of index first + j, clamped to the inputs of the plan. The
 * first of these lies at the element's place in the source, which does not advance along the axis that is summed.
 *
 * A plan is indirect in one of these ways at most.
 *
 * All strides and offsets are bytes. Axis 0 is the outermost.
 * No function here allocates, touches a device or looks at the bytes; all may run on any thread.
 */
#ifndef DML_PLAN_PLAN_H
#define DML_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "plan/formula.h"

/* NumPy's highest rank, and the most axes an operator makes of that: two a spatial axis. */
#define DML_MAX_RANK 64
#define DML_MAX_AXES (2 * DML_MAX_RANK + 2)
#define DML_MOST_OPERATIONS 4

typedef struct dml_axis {
    int64_t extent;
    int64_t src_stride;
    int64_t dst_stride;
    int64_t entry_stride;
} dml_axis;

/* A side tensor, of integers of any width that NumPy has, or of a table's rows. */
typedef struct dml_entries {
    const void *data; /* borrowed; NULL: the host does not see them */
    int64_t offset;   /* to the entry of element (0, 0, ...) */
    int64_t item;     /* bytes of an entry; of an integer 1, 2, 4 or 8 */
    bool is_signed;
    bool swapped; /* an integer has its high byte first */
    bool *wrong;  /* borrowed: set where the host clamps an index; NULL: nobody asks */
} dml_entries;

/* An axis that the source alone has, whose index is an entry. */
typedef struct dml_gathered {
    int64_t extent;
    int64_t begin; /* the indices that the plan moves, of which the first is at its src_offset: */
    int64_t count; /* all, but for a piece; an element whose index lies elsewhere belongs to another piece */
    int64_t src_stride;
    int64_t entry_offset; /* from that of the element's first entry */
} dml_gathered;

/* Up to four operations in float32, one after the other, that may give what a table has, in float32 or float16. */
typedef struct dml_arithmetic {
    uint64_t key;                           /* a hash of it and its table: equal ones have the same */
    int64_t table;                          /* bytes from the side tensor's `data` to the table's first row */
    uint32_t operations;                    /* DML_TABLES_OPERATIONS */
    uint32_t rows;                          /* of the table */
    float constants[][DML_MOST_OPERATIONS]; /* of each row */
} dml_arithmetic;

/* How a sum makes an output of inputs p, weights w and parameters, tap after tap from the first. Integers have 32 bits, `>>`
 * rounds down; float32 operations are rounded one by one, to nearest even, none fused. A byte that floats become is rounded to
 * nearest even, then clipped to 0..255. */
typedef enum dml_sum_kind {
    DML_SUM_CLIP,   /* byte: (sum(w * p) + (1 << shift >> 1)) >> shift, clipped to 0..255 */
    DML_SUM_SHIFT,  /* uint16 or int32: sum(w * p) >> shift */
    DML_SUM_FLOORS, /* byte: (sum((w * p) >> shift) + 2) >> 2 */
    DML_SUM_FLOAT,  /* float32: sum(w * p), w and p as float32 */
    DML_SUM_ROUND,  /* byte: the same */
    DML_SUM_CUBIC,  /* byte: the same, w being int32, from the last tap to the first, times 2**-shift */
    DML_SUM_TIMES,  /* byte: float32(sum(w * p)) * factor */
    DML_SUM_OVER,   /* byte: float32(sum(w * p)) / factor */
    DML_SUM_REDUCE, /* byte: ((sum(w * p) + half) * multiplier) >> 24, in uint32 that wrap around */
} dml_sum_kind;

typedef struct dml_sum {
    dml_sum_kind kind;
    int32_t shift;
    uint32_t half, multiplier;
    float factor;
} dml_sum;

typedef enum dml_number { DML_UINT8, DML_UINT16, DML_INT32, DML_FLOAT32 } dml_number;

/* What sums add. */
typedef struct dml_taps {
    int64_t count;     /* of inputs that are added; 0: there is no sum */
    int64_t stride;    /* source bytes from an input of the summed axis to the next */
    int64_t begin;     /* the inputs that the plan may read: the first of them, which is at src_offset, */
    int64_t inputs;    /* and how many; of these at least one */
    dml_number number; /* what an input is */
} dml_taps;

typedef struct dml_plan {
    int64_t item;
    int64_t src_offset;
    int64_t dst_offset;
    int64_t src_item; /* bytes of an element that is read, where there is a table or a sum; else 0 */
    dml_taps taps;
    dml_sum sum;
    dml_entries entries;
    const dml_arithmetic *arithmetic; /* borrowed; NULL: only the table is known */
    const dml_formula *formula;       /* borrowed; NULL: the entries are those of a table, if there are any */
    int rank;
    int reversed; /* an index into axes, or -1 */
    int gathered; /* how many axes are */
    dml_axis axes[DML_MAX_AXES];
    dml_gathered gathers[DML_MAX_RANK];
} dml_plan;

/* A cut of a plan: some indices of one axis. */
typedef struct dml_cut {
    int axis;
    int64_t begin;
    int64_t extent;
} dml_cut;

/* The bytes a plan touches on one side, as offsets from that side's base: [begin, end). */
typedef struct dml_span {
    int64_t begin;
    int64_t end;
} dml_span;

/* A plan without axes, for one item; builders then add axes. */
void dml_plan_begin(dml_plan *plan, int64_t item);
void dml_plan_add(dml_plan *plan, int64_t extent, int64_t src_stride, int64_t dst_stride);

/* Copies only the axes in use; a plan is four kilobytes. */
void dml_plan_copy(dml_plan *to, const dml_plan *from);

/* Keeps `extent` indices of axis k, from index `begin` on: with extents of 1, that index alone. */
void dml_plan_cut(dml_plan *plan, int k, int64_t begin, int64_t extent);

/* Keeps index 0 alone of an axis, which then is none. */
void dml_plan_remove_axis(dml_plan *plan, int k);

/* The outermost axis of at least `enough` indices, else the longest of more than one, but not the reversed one; -1: none. */
int dml_plan_axis_to_cut(const dml_plan *plan, int64_t enough);

/* `to` becomes that cut of `from`, simplified; the reversed axis is not cut. */
void dml_plan_take(dml_plan *to, const dml_plan *from, const dml_cut *cut);

/* The item becomes an axis, the last one, of integers of at most so many bytes, a power of two. */
void dml_plan_divide_item(dml_plan *plan, int64_t most);

/* Swaps source and destination. The plan is not indirect. */
void dml_plan_turn(dml_plan *plan);

static inline bool dml_plan_has_sum(const dml_plan *plan)
{
    return plan->taps.count > 0;
}

static inline bool dml_plan_has_table(const dml_plan *plan)
{
    return plan->src_item > 0 && !dml_plan_has_sum(plan);
}

/* Whether it moves bytes as they are, so that items may be divided and joined. */
static inline bool dml_plan_moves(const dml_plan *plan)
{
    return plan->src_item == 0;
}

/* Bytes that an element reads; of a sum, of one input. */
static inline int64_t dml_plan_src_item(const dml_plan *plan)
{
    return dml_plan_moves(plan) ? plan->item : plan->src_item;
}

static inline bool dml_plan_is_indirect(const dml_plan *plan)
{
    return plan->reversed >= 0 || plan->gathered > 0 || !dml_plan_moves(plan);
}

/* The integer at `offset` of a side tensor that the host sees, clamped to [0, most]. */
int64_t dml_entries_read(const dml_entries *entries, int64_t offset, int64_t most);

/* Likewise as the index of an axis. */
int64_t dml_entries_index(const dml_entries *entries, int64_t offset, int64_t extent);

/* The 64 bits of an entry as the index of an axis; one out of range is clamped, and whoever asks is told. */
DML_INLINE int64_t dml_entries_clamp(const dml_entries *entries, uint64_t value, int64_t extent, const bool is_signed)
{
    const bool below = is_signed && (int64_t)value < 0;
    value += (uint64_t)(extent & -(int64_t)below);
    if (value < (uint64_t)extent)
        return (int64_t)value;
    if (entries->wrong)
        DML_SET(entries->wrong);
    return below ? 0 : extent - 1;
}

/* Elements moved; 0 for an empty plan. */
int64_t dml_plan_count(const dml_plan *plan);

/* Where the element of an index lies, in the order of the plan: false if there is none. The plan is not empty. */
bool dml_plan_element(const dml_plan *plan, int64_t index, int64_t *src_offset, int64_t *dst_offset);

/* Bytes written. */
int64_t dml_plan_bytes(const dml_plan *plan);

/* Whether the destination is one run of bytes, in the order of the plan's axes. */
bool dml_plan_is_dense(const dml_plan *plan);

/* Whether it reads as many bytes as there are from the first that it reads to the last; false where entries say which. */
bool dml_plan_reads_all(const dml_plan *plan);

/* From the first byte that a plan writes to behind the last; it must not be empty. */
dml_span dml_plan_dst_span(const dml_plan *plan);

/* The same of the entries that it reads; empty where there are none. */
dml_span dml_plan_entry_span(const dml_plan *plan);

static inline void dml_span_grow(dml_span *span, int64_t extent, int64_t stride)
{
    int64_t reach = (extent - 1) * stride;
    *(reach < 0 ? &span->begin : &span->end) += reach;
}

static inline int64_t dml_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t dml_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t dml_clamp(int64_t value, int64_t least, int64_t most)
{
    return dml_smaller(dml_larger(value, least), most);
}

static inline int64_t dml_magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* A division of what is not negative: of 64 bits it takes a CPU several times as long as of 32. */
static inline int64_t dml_quotient(int64_t value, int64_t by)
{
    return (value | by) <= UINT32_MAX ? (int64_t)((uint32_t)value / (uint32_t)by) : value / by;
}

/* The same, rounded up: how many blocks of so many a whole has, of which the last may have fewer. */
static inline int64_t dml_ceil_div(int64_t value, int64_t by)
{
    return dml_quotient(value + by - 1, by);
}

/* The largest power of two up to `most` (one itself) that divides all of the value. */
int64_t dml_divisor(uint64_t value, int64_t most);

/* Moves the same bytes by fewer axes and longer items: drops axes of extent 1, makes destination strides positive and
 * descending, merges neighbouring axes that continue each other, and takes contiguous inner axes into the item. The reversed
 * axis is not merged, and with a table or a sum the item stays. An empty plan becomes one axis of extent 0. */
void dml_plan_simplify(dml_plan *plan);

#endif
