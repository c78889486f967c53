/* Kernel choice: what one piece of a plan becomes on a device, as plain data.
 *
 * Looks only at the piece and the device's traits, never at which operator made it. Three kernels and the copy
 * command do all the work:
 *
 *   copy      one or a few long runs, contiguous on both sides: vkCmdCopyBuffer
 *   rows      the destination is rows of contiguous bytes, put together as 16- or 32-byte words from a small window of each of a
 *             few source streams by a pattern that is known when the pipeline is made (shaders/rows.comp)
 *   words     the destination has no gaps, and rows are short: 16-byte words, each put together from the rows that it is made of
 *             (shaders/words.comp)
 *   elements  anything: one word of an element per invocation, any rank (shaders/elements.comp)
 *
 * Byte offsets in a dispatch are modulo 2**32, relative to the windows that are bound: src_window and dst_window.
 */
#ifndef DML_CORE_DISPATCH_H
#define DML_CORE_DISPATCH_H

#include "core/split.h"

typedef enum dml_kernel {
    DML_KERNEL_COPY,
    DML_KERNEL_ROWS,
    DML_KERNEL_WORDS,
    DML_KERNEL_ELEMENTS,
    DML_KERNEL_COUNT
} dml_kernel;

enum { DML_MAX_SEGMENTS = 16 };

/* What the choice depends on. `window` bounds a piece's span on either side and is below 2**32. A window of more than `binding` is less than
 * DML_MAX_SEGMENTS times the power of two that `binding` has room for. */
typedef struct dml_traits {
    uint32_t group_size; /* invocations of a work group */
    uint32_t max_groups; /* work groups of a dispatch; on a CPU no more than there may be threads */
    uint32_t parallel;   /* shares worth cutting the work into, for a work group each: beyond, a share has several rows */
    /* Bytes that an invocation should load at once; half as many where that leaves fewer registers, and on a CPU twice where windows begin anywhere. */
    uint32_t grain;
    bool cpu; /* threads of a CPU run the work groups: they take shares as they come free, and foresee what they read next */
    uint32_t alignment; /* of a window's first byte, a power of two, 16 or more */
    int64_t window;     /* most bytes bound on one side, */
    int64_t binding;    /* and at once: more are bound as segments of equal size */
} dml_traits;

/* Specialisation constants, in the order of their constant_id; all kernels have the first four. */
enum {
    DML_GROUP_SIZE,
    DML_REVERSED, /* 0 none, 1 an axis of the table, 2 (rows) the row itself or (elements) an axis that was cut */
    DML_EDGE,     /* bytes of a word where words are narrow: 1, 2, 4 or 8; 0 (rows) where rows are whole tiles */
    DML_DYNAMIC,  /* 1: work groups take their shares as they come free */
    DML_ITEM,     /* rows: bytes that are contiguous on both sides */
    DML_EXTENT_0, /* rows: inner axes, the fastest first: extent and source stride in bytes */
    DML_STRIDE_0,
    DML_EXTENT_1,
    DML_STRIDE_1,
    DML_EXTENT_2,
    DML_STRIDE_2,
    DML_STREAM,   /* rows: which of the three reads a stream of its own per index, from 1; 0 none */
    DML_STEP,     /* rows, words: source bytes from one row element, or narrow word, to the next */
    DML_COUNT,    /* rows: row elements a tile has */
    DML_WORDS,    /* rows, words: words a tile has */
    DML_UNIT,     /* rows: bytes that stay together, 1, 2, 4 or 8 */
    DML_LOW,      /* rows: offset of a tile's window from its first element's source */
    DML_WINDOW,   /* rows: 8-byte words of a window */
    DML_OUTS,     /* rows: destination rows made from one window */
    DML_OUT_STEP, /* rows: source bytes from one of these to the next */
    DML_HEAD,     /* rows: the inverse of a row element's odd part, modulo 32 */
    DML_UNIT_2,   /* rows, DML_REVERSED 2: the same two for the part that is not reversed */
    DML_LOW_2,
    DML_ALIGN,   /* rows: what every window's address is a multiple of: 1, 8, 16 or 32 */
    DML_WORD,    /* rows: bytes of a word: 16 or 32 */
    DML_ABREAST, /* rows: how many a work group moves side by side */
    DML_AHEAD,   /* rows: 1 what lies between rows is read too; 2 and the next row, beforehand */
    DML_SEGMENT_BITS,    /* 0, or how large the segments are that a window is bound as: 2 to the power of this */
    DML_CONSTANTS
};

/* The table that all kernels read (a uniform block): a header, then DML_TABLE_AXIS words an axis, the innermost
 * first, and at least DML_MIN_AXES of them: those that there are not have one place. */
enum {
    DML_TABLE_RANK,
    DML_TABLE_TOTAL,     /* rows, times the parts each is shared out in */
    DML_TABLE_PER_SHARE, /* how many of these are a share, which a work group does at a time */
    DML_TABLE_SRC,       /* byte offsets of element 0 */
    DML_TABLE_DST,
    DML_TABLE_LENGTH,   /* entry of element 0 */
    DML_TABLE_REVERSED, /* index of the reversed axis */
    DML_TABLE_REVERSED_STRIDE,
    DML_TABLE_EXTENT, /* elements of a row, or of a walk along the innermost axis; words: rows */
    DML_TABLE_STREAM, /* rows: bytes between streams */
    DML_TABLE_OUT,    /* rows: bytes between the destinations of one window */
    DML_TABLE_LAST,   /* rows: the last 8-byte word of the source window; what is bound ends at a multiple of 16 bytes */
    DML_TABLE_ROWS,   /* how many, and the multiplier of a division by it */
    DML_TABLE_ROWS_MULTIPLIER,
    DML_TABLE_PART_TILES, /* tiles, or elements, of a part; the first parts of all rows come first, then the second */
    DML_TABLE_SHARES,     /* how many there are */
    DML_TABLE_CUT,        /* elements: reversed_begin, source_begin, source_end as pairs of words, low first */
    DML_TABLE_ITEM = DML_TABLE_CUT + 6, /* words: bytes of a row in the destination, and the multiplier of a division by it */
    DML_TABLE_ITEM_MULTIPLIER,
    DML_TABLE_AHEAD,                      /* rows: cache lines that DML_AHEAD reads behind a row */
    DML_TABLE_AXES = DML_TABLE_AHEAD + 4, /* three unused: an axis begins at a multiple of 16 bytes */
    DML_TABLE_AXIS = 8,                   /* extent, multiplier, src_stride, dst_stride, length_stride, and three unused */
    DML_MIN_AXES = 4,
    DML_TABLE_WORDS = DML_TABLE_AXES + DML_TABLE_AXIS * (DML_MAX_AXES + 1)
};

typedef struct dml_dispatch {
    dml_kernel kernel;
    dml_span src_window; /* bytes to bind, from the plan's bases; begin is a multiple of nothing in particular */
    dml_span dst_window;
    int32_t constants[DML_CONSTANTS];
    uint32_t groups;
    uint32_t table_words;
    uint32_t table[DML_TABLE_WORDS];
} dml_dispatch;

/* `src_base` and `dst_base` are the addresses (or, for a device's own memory, offsets) that the plan's offsets count from:
 * a window is bound from the address below it that is a multiple of the traits' alignment. `forced` is DML_KERNEL_COUNT, or the
 * kernel that a test wants wherever it can do the piece. */
void dml_dispatch_choose(const dml_piece *piece, const dml_traits *device, uint64_t src_base, uint64_t dst_base,
                         dml_kernel forced, dml_dispatch *dispatch);

/* The regions of a copy, in the order of the plan: false when there is none left. */
bool dml_dispatch_region(const dml_plan *plan, int64_t index, int64_t *src_offset, int64_t *dst_offset);

#endif
