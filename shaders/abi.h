/* The contract between csrc/core and the kernels: specialisation constants by id, and the table (a uniform block).
 *
 * C and GLSL both include this file. Constants are 32 bits each. Byte offsets and strides in the table are modulo 2**32, so
 * negative strides need no special case.
 */
#ifndef DML_ABI_H
#define DML_ABI_H

/* Limits that a kernel is compiled with. */
#define DML_MAX_SEGMENTS 16     /* descriptors of a descriptor array that binds a range as segments */
#define DML_TABLE_MAX_AXES 131  /* DML_MAX_AXES of a plan, gathered ones included, and one for the scalars of an item */
#define DML_TABLE_MIN_AXES 4    /* a table has at least these; those that it does not need have extent 1 */
#define DML_MAX_WINDOW_WORDS 32 /* 8-byte words that an invocation of `rows` has registers for, over all streams */
#define DML_MAX_CHAIN 4         /* axes of a row of `blocks`; rows lie along the table's next two */
#define DML_MAX_WORDS_STRIDE 15 /* largest distance, in scalars, between neighbours in a source row of `words` */
#define DML_SUBGROUP 8          /* invocations of a subgroup that makes sums together */
#define DML_TABLES_MOST_SPAN 64 /* bytes of a window of `tables` and `formulas` */

/* Values of DML_ENTRIES_WAY: what entries say. They advance along axes: lengths of the reversed axis, rows of a table, or
 * indices of gathered axes, of which ADVANCE has all, and CUT those of the piece: elements of other sources are skipped. */
#define DML_ENTRIES_NONE 0    /* there are none */
#define DML_ENTRIES_ADVANCE 1 /* the axis that a length reverses, if any, is the table's `reversed_axis` */
#define DML_ENTRIES_ROW 2     /* rows: a length reverses the row itself */
#define DML_ENTRIES_CUT 3     /* elements: like ADVANCE, of an axis that was cut: sources outside the piece are skipped */

/* Constants of all kernels. A scalar is an integer of 1, 2, 4 or 8 bytes. */
#define DML_GROUP_SIZE 0   /* invocations of a workgroup */
#define DML_ENTRIES_WAY 1  /* DML_ENTRIES_NONE, ... */
#define DML_SCALAR 2       /* bytes of a scalar, divides all addresses and strides; rows: 0 if no row has a head or tail */
#define DML_DYNAMIC 3      /* 1: workgroups take work chunks from an atomic counter; 0: each does the chunk of its own number */
#define DML_SEGMENT_BITS 4 /* log2 of the bytes of a segment; 0: ranges are bound as a whole */

/* Constants of rows.comp, which says what they are. */
#define DML_ROWS_ITEM 5     /* bytes that are contiguous on both sides */
#define DML_ROWS_EXTENT_0 6 /* inner axes of an element, the fastest first: extent, source stride in bytes */
#define DML_ROWS_STRIDE_0 7
#define DML_ROWS_EXTENT_1 8
#define DML_ROWS_STRIDE_1 9
#define DML_ROWS_EXTENT_2 10
#define DML_ROWS_STRIDE_2 11
#define DML_ROWS_STREAM 12        /* the inner axis with a source stream for each index, counted from 1; 0: one stream */
#define DML_ROWS_STRIDE 13        /* source bytes from one element to the next */
#define DML_ROWS_TILE 14          /* elements of a tile */
#define DML_ROWS_WORD 15          /* bytes of a word: 8, 16 or 32 */
#define DML_ROWS_PER_WINDOW 16    /* destination rows made from one window (the de-interleave factor) */
#define DML_ROWS_WINDOW_STRIDE 17 /* source bytes between these rows */
#define DML_ROWS_UNIT 18          /* bytes that stay together in the pattern: 1, 2, 4 or 8 */
#define DML_ROWS_FORWARD_UNIT 19  /* DML_ENTRIES_ROW: the same where a row is not reversed */
#define DML_ROWS_ALIGN 20         /* every window's address is a multiple of this: 1, 8, 16 or 32 */
#define DML_ROWS_SCHEDULE 21      /* rows per workgroup; 0: one row, followed by software prefetch of `rows_prefetch_lines` */
#define DML_ROWS_AHEAD 22         /* iterations of a workgroup along a row by which reads are prefetched; 0: none */
#define DML_ROWS_PHASE 23         /* destination bytes from a word's begin to that of the first of these rows, */
#define DML_ROWS_SKEW 24          /* and bytes more for each further one */

/* Constant of elements.comp. */
#define DML_ELEMENTS_WORDS 5 /* 1: along axis 0, elements and their one entry each lie side by side, and make words */

/* Constants of words.comp. */
#define DML_WORDS_STRIDE 5 /* source bytes from one scalar of a row to the next */
#define DML_WORDS_TILE 6   /* words that an invocation makes, one after the other */

/* Constants of blocks.comp, which says what they are. */
#define DML_BLOCKS_ROWS 5
#define DML_BLOCKS_CHAIN 6
#define DML_BLOCKS_ALIGN 7
#define DML_BLOCKS_PHASED 8
#define DML_BLOCKS_INSIDE 9
/* Constants of tables.comp, which says what they are. */
#define DML_TABLES_ITEM 5   /* bytes of an entry */
#define DML_TABLES_SOURCE 6 /* bytes of an element of the source: 1 or 2 */
#define DML_TABLES_TILE 7   /* elements of a tile along axis 0, */
#define DML_TABLES_SIDE 8   /* and along axis 1: all its indices, or 1 */
#define DML_TABLES_WORDS 9  /* DML_TABLES_SCALARS, ... */
#define DML_TABLES_WINDOWED 10
#define DML_TABLES_STRIDE 11      /* source bytes from one element of a window to the next, */
#define DML_TABLES_SIDE_STRIDE 12 /* on each axis */
#define DML_TABLES_SAME_ROWS 13   /* 1: all tiles have the same rows of the table */
#define DML_TABLES_OPERATIONS 14  /* of float32, from the lowest 4 bits on: DML_OPERATION_ADD, ...; 0: entries are looked up */

/* Constants of formulas.comp beside those of tables.comp; words of these fields, from which bits on. */
#define DML_FORMULAS_ENDS 14  /* TO: the element's register, A: how many constants are in the first ones, B: the result's */
#define DML_FORMULAS_STEPS 15 /* and so many more; 0: there is none */
#define DML_FORMULAS_MOST_STEPS 9
#define DML_FORMULA_FLOATS 32    /* a flag: of floats; of a cast, to floats */
#define DML_FORMULA_ALIGNED 32   /* of ENDS: elements lie at multiples of 4 bytes */
#define DML_FORMULA_TO 7
#define DML_FORMULA_A 12
#define DML_FORMULA_B 17
#define DML_FORMULA_C 22
#define DML_FORMULA_WORDS 24     /* registers */
#define DML_FORMULA_ROW 4        /* constants at most */

/* In the lowest 5 bits of a step: dml_formula_operation of plan/formula.h. */
#define DML_STEP_CAST 3
#define DML_STEP_NARROW 4
#define DML_STEP_WHERE 6
#define DML_STEP_ADD 7
#define DML_STEP_SUBTRACT 8
#define DML_STEP_MULTIPLY 9
#define DML_STEP_DIVIDE 10
#define DML_STEP_MINIMUM 11
#define DML_STEP_MAXIMUM 12
#define DML_STEP_RAISE 13
#define DML_STEP_LOWER 14
#define DML_STEP_LESS 15
#define DML_STEP_LESS_EQUAL 16
#define DML_STEP_GREATER 17
#define DML_STEP_GREATER_EQUAL 18
#define DML_STEP_EQUAL 19
#define DML_STEP_NOT_EQUAL 20
#define DML_STEP_AND 21
#define DML_STEP_OR 22
#define DML_STEP_XOR 23
#define DML_STEP_NEGATIVE 24
#define DML_STEP_ABSOLUTE 25
#define DML_STEP_SQRT 26
#define DML_STEP_FLOOR 27
#define DML_STEP_CEIL 28
#define DML_STEP_TRUNC 29
#define DML_STEP_RINT 30
#define DML_STEP_IN_16 2 /* of NARROW: from here on, memory has 16 bits; an odd number is signed */

/* Values of DML_TABLES_WORDS: what is contiguous in the destination, in whole words of 16 bytes. */
#define DML_TABLES_SCALARS 0 /* nothing */
#define DML_TABLES_RUNS 1    /* axis 0 */
#define DML_TABLES_MIXED 2   /* axes 1 and 0 */

/* Constants of sums.comp, float_sums.comp and shuffled_sums.comp; shaders/sums.glsl says what they are. */
#define DML_SUMS_KIND 5   /* DML_SUMS_CLIP, ... */
#define DML_SUMS_NUMBER 6 /* DML_SUMS_UINT8, ...: what an input is */
#define DML_SUMS_ITEM 7   /* bytes of an output */
#define DML_SUMS_WAY 8    /* DML_SUMS_SINGLY, ... */
#define DML_SUMS_TILE 9
#define DML_SUMS_CHANNELS 10
#define DML_SUMS_ROWS 11
#define DML_SUMS_ALIGN 12 /* all sources of tiles are at multiples of so many bytes: 1, 4, 8 or 16 */
#define DML_SUMS_WORD 13  /* bytes of the words that are stored: 4 or 16; 0: scalars alone */
#define DML_SUMS_EARLY 14 /* 1: a run's first tile begins early, where a word does */
#define DML_SUMS_GROUPS 15    /* these three: shaders/shuffles.glsl */
#define DML_SUMS_REGISTERS 16
#define DML_SUMS_REST 17
#define DML_SUMS_OUTPUTS 18
#define DML_SUMS_FLIPPED 19

/* Values of DML_SUMS_KIND and DML_SUMS_NUMBER: those of dml_sum_kind and dml_number in plan/plan.h. */
#define DML_SUMS_CLIP 0
#define DML_SUMS_SHIFT 1
#define DML_SUMS_FLOORS 2
#define DML_SUMS_FLOAT 3
#define DML_SUMS_ROUND 4
#define DML_SUMS_CUBIC 5
#define DML_SUMS_TIMES 6
#define DML_SUMS_OVER 7
#define DML_SUMS_REDUCE 8
#define DML_SUMS_UINT8 0
#define DML_SUMS_UINT16 1
#define DML_SUMS_INT32 2
#define DML_SUMS_FLOAT32 3

/* Values of DML_SUMS_WAY. */
#define DML_SUMS_SINGLY 0 /* one output at a time */
#define DML_SUMS_ACROSS 1 /* along axis 0, outputs and inputs are neighbours, and all have the same weights */
#define DML_SUMS_ALONG 2  /* axis 0 is the one that is summed; inputs are bytes, neighbours along it */

/* In DML_TABLES_OPERATIONS; 0 where entries are looked up. */
#define DML_OPERATION_ADD 1
#define DML_OPERATION_SUBTRACT 2
#define DML_OPERATION_SUBTRACT_FROM 3 /* the constant less the number */
#define DML_OPERATION_MULTIPLY 4
#define DML_OPERATION_DIVIDE 5
#define DML_OPERATION_DIVIDE_INTO 6  /* the constant by the number */
#define DML_OPERATION_SIGNED 0x10000 /* the bytes are signed */
#define DML_OPERATION_COMPUTED 0x20000 /* always there, since a cast has no operation */

/* Constants of kernels that read entries, which are integers as they lie in memory. */
#define DML_ENTRY_BYTES 25
#define DML_ENTRY_UNIT 26 /* bytes of one that lie together within a word of 4 bytes, at a multiple of as many: 1, 2 or 4 */
#define DML_ENTRY_SIGNED 27
#define DML_ENTRY_SWAPPED 28 /* 1: the high byte comes first, and units are bytes */

#define DML_GATHERED 29 /* axes that are */

#define DML_CONSTANTS 30 /* the most that a kernel has */

#ifdef __STDC_VERSION__
#include <stddef.h>
#include <stdint.h>
#define u32 uint32_t
#define i64 int64_t
typedef struct dml_table_axis dml_table_axis;
typedef struct dml_table dml_table;
#else
#define u32 uint
#define i64 uvec2 /* the low half first */
#endif

/* `multiplier` replaces a division by the extent: see divide() in plan.glsl. GLSL loads the first four at once, which is
 * faster on a CPU. Of a gathered axis they are its extent and the first index of the piece, each of 64 bits, the low half
 * first; its entry_stride is where its entries begin. */
struct dml_table_axis {
#ifdef __STDC_VERSION__
    u32 extent;
    u32 multiplier;
    u32 src_stride;
    u32 dst_stride;
#else
    uvec4 first;
#endif
    u32 entry_stride;
    u32 gathered_count;  /* indices of a gathered axis that the piece has, */
    u32 gathered_stride; /* and source bytes between them */
    u32 unused;
};

/* The work is `rows` rows (elements: each along axis 0; words: one row) of `strips` strips each. Unit n of `total` = rows *
 * strips is strip n / rows of row n % rows. */
struct dml_table {
    u32 rank;
    u32 total;
    u32 chunk; /* units of a work chunk; the last may have fewer */
    u32 chunks;
    u32 rows;
    u32 rows_multiplier;
    u32 strip;      /* tiles (elements: elements) of a strip */
    u32 src_offset; /* of element 0, from the range's begin */
    u32 dst_offset;
    u32 entry_offset;
    u32 reversed_axis;          /* index into axes, or none of these */
    u32 reversed_stride;        /* source bytes */
    u32 src_last;               /* index of the source range's last 8-byte word; memory is bound up to a multiple of 16 bytes */
    u32 rows_extent;            /* rows: elements of a row */
    u32 rows_stream_stride;     /* source bytes between streams */
    u32 rows_window_dst_stride; /* destination bytes between the rows of one window */
    u32 rows_prefetch_lines;    /* cache lines to read behind a row */
    u32 words_rows;             /* words: how many rows there are, */
    u32 words_row;              /* and the destination bytes of one */
    u32 words_row_multiplier;
    u32 elements_extent; /* elements: of a row */
    u32 tiled_elements; /* tables, sums: elements of the axes of a tile, */
    u32 tiles;          /* and the tiles of these */
    u32 tiles_multiplier;
    u32 tiles_count; /* of all tiles */
    u32 sums_taps;   /* sums: of each output, */
    u32 sums_stride; /* source bytes from one input to the next */
    u32 sums_last;   /* index of the last input */
    u32 sums_bias;   /* what is added to the inputs, */
    u32 sums_shift;
    u32 sums_multiplier; /* and the float's bits, or the integer, that the sum is multiplied with, or divided by */
    u32 sums_across;     /* ALONG: tiles along axis 0 */
    u32 sums_across_multiplier;
    u32 sums_units; /* shuffled: that are loaded of a row */
    u32 blocks_row;   /* blocks: destination bytes of a row, */
    u32 blocks_words; /* words of each row of a tile; the last may have fewer */
    u32 blocks_tiles; /* tiles along a row, */
    u32 blocks_tiles_multiplier;
    u32 blocks_sides; /* and beside each other */
    u32 blocks_sides_multiplier;
    u32 blocks_count; /* tiles of all */
    u32 blocks_edges; /* ends of rows that are moved together, and the begin of all; 0: words meet them all */
    u32 blocks_bytes; /* of the destination */
    u32 gathers;      /* index into axes of the first that is gathered */
    i64 longest;      /* to which lengths are clamped */
    i64 cut_begin;    /* DML_ENTRIES_CUT: destination index of element 0 on the reversed axis, */
    i64 source_begin; /* and the source indices that belong to the piece */
    i64 source_end;
    dml_table_axis axes[DML_TABLE_MAX_AXES]; /* the innermost first; then gathered ones */
};

#ifdef __STDC_VERSION__
#undef u32
#undef i64
/* As std140 lays them out. */
_Static_assert(sizeof(dml_table_axis) == 32, "an axis is two uvec4");
_Static_assert(offsetof(dml_table, longest) == 176, "64-bit integers lie at multiples of 8");
_Static_assert(offsetof(dml_table, axes) == 208, "structures lie at multiples of 16");
_Static_assert(sizeof(dml_table) == 208 + DML_TABLE_MAX_AXES * sizeof(dml_table_axis), "no padding");
#endif

#endif
