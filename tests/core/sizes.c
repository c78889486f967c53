/* What the core's structures and constants really are, for the mirror of them in Python to be held against. */
#include "core/dispatch.h"
#include "core/operators.h"
#include "core/pack.h"

#include <stddef.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef struct entry {
    const char *name;
    long long value;
} entry;

#define SIZE(type) {"sizeof " #type, sizeof(type)}
#define OFFSET(type, member) {#type "." #member, offsetof(type, member)}
#define VALUE(name) {#name, name}

EXPORT const entry dml_sizes[] = {
    SIZE(dml_axis), OFFSET(dml_axis, length_stride),
    SIZE(dml_span), OFFSET(dml_span, end),
    SIZE(dml_plan), OFFSET(dml_plan, lengths), OFFSET(dml_plan, length_offset), OFFSET(dml_plan, rank),
    OFFSET(dml_plan, reversed), OFFSET(dml_plan, axes),
    SIZE(dml_piece), OFFSET(dml_piece, reversed_begin), OFFSET(dml_piece, source_begin),
    OFFSET(dml_piece, source_end), OFFSET(dml_piece, cut),
    SIZE(dml_split), OFFSET(dml_split, tile), OFFSET(dml_split, begin), OFFSET(dml_split, kept), OFFSET(dml_split, done),
    SIZE(dml_limits), OFFSET(dml_limits, binding), OFFSET(dml_limits, chunk), OFFSET(dml_limits, pack_src), OFFSET(dml_limits, pack_dst),
    SIZE(dml_tensor), OFFSET(dml_tensor, item), OFFSET(dml_tensor, shape), OFFSET(dml_tensor, strides),
    SIZE(dml_ints), OFFSET(dml_ints, value),
    SIZE(dml_slice_args), OFFSET(dml_slice_args, output_sizes),
    SIZE(dml_block_args), OFFSET(dml_block_args, single), OFFSET(dml_block_args, channels_last),
    SIZE(dml_reverse_args), OFFSET(dml_reverse_args, batch_axis), OFFSET(dml_reverse_args, length_rank),
    OFFSET(dml_reverse_args, length_shape),
    SIZE(dml_status), OFFSET(dml_status, axis), OFFSET(dml_status, message),
    SIZE(dml_traits), OFFSET(dml_traits, max_groups), OFFSET(dml_traits, parallel), OFFSET(dml_traits, grain),
    OFFSET(dml_traits, cpu), OFFSET(dml_traits, alignment), OFFSET(dml_traits, window),
    OFFSET(dml_traits, binding),
    SIZE(dml_dispatch), OFFSET(dml_dispatch, src_window), OFFSET(dml_dispatch, dst_window),
    OFFSET(dml_dispatch, constants), OFFSET(dml_dispatch, groups), OFFSET(dml_dispatch, table_words),
    OFFSET(dml_dispatch, table),
    VALUE(DML_GROUP_SIZE), VALUE(DML_REVERSED), VALUE(DML_EDGE), VALUE(DML_DYNAMIC), VALUE(DML_ITEM),
    VALUE(DML_EXTENT_0),
    VALUE(DML_STRIDE_0), VALUE(DML_EXTENT_1), VALUE(DML_STRIDE_1), VALUE(DML_EXTENT_2), VALUE(DML_STRIDE_2),
    VALUE(DML_STREAM), VALUE(DML_STEP), VALUE(DML_COUNT), VALUE(DML_WORDS), VALUE(DML_UNIT), VALUE(DML_LOW),
    VALUE(DML_WINDOW), VALUE(DML_OUTS), VALUE(DML_OUT_STEP), VALUE(DML_HEAD), VALUE(DML_UNIT_2),
    VALUE(DML_LOW_2), VALUE(DML_ALIGN), VALUE(DML_WORD), VALUE(DML_ABREAST), VALUE(DML_AHEAD), VALUE(DML_SEGMENT_BITS), VALUE(DML_MAX_SEGMENTS),
    VALUE(DML_CONSTANTS),
    VALUE(DML_TABLE_RANK), VALUE(DML_TABLE_TOTAL), VALUE(DML_TABLE_PER_SHARE), VALUE(DML_TABLE_SRC),
    VALUE(DML_TABLE_DST), VALUE(DML_TABLE_LENGTH), VALUE(DML_TABLE_REVERSED), VALUE(DML_TABLE_REVERSED_STRIDE),
    VALUE(DML_TABLE_EXTENT), VALUE(DML_TABLE_STREAM), VALUE(DML_TABLE_OUT), VALUE(DML_TABLE_LAST),
    VALUE(DML_TABLE_ROWS), VALUE(DML_TABLE_ROWS_MULTIPLIER), VALUE(DML_TABLE_PART_TILES), VALUE(DML_TABLE_SHARES),
    VALUE(DML_TABLE_CUT), VALUE(DML_TABLE_ITEM), VALUE(DML_TABLE_ITEM_MULTIPLIER), VALUE(DML_TABLE_AHEAD), VALUE(DML_TABLE_AXES), VALUE(DML_TABLE_AXIS),
    VALUE(DML_MIN_AXES), VALUE(DML_TABLE_WORDS),
    VALUE(DML_SRC), VALUE(DML_DST), VALUE(DML_MAX_RANK), VALUE(DML_MAX_AXES), VALUE(DML_KERNEL_COPY), VALUE(DML_KERNEL_ROWS),
    VALUE(DML_KERNEL_WORDS), VALUE(DML_KERNEL_ELEMENTS), VALUE(DML_KERNEL_COUNT),
    {NULL, 0},
};
