// What the kernels share: the ranges of source and destination, the table and how to find a position in it, and the work
// chunks.
//
// A driver that runs invocations as the lanes of a CPU's vectors executes both sides of an `if` with masks, and the body of a
// `for` once more than needed. So conditions are few, loops are `do while`, and rare work has a loop of its own.

#extension GL_EXT_control_flow_attributes : require
#ifdef SEGMENTED
#extension GL_EXT_nonuniform_qualifier : require
#endif
#include "words.glsl" // enables the types of abi.h
#include "abi.h"

layout(local_size_x_id = DML_GROUP_SIZE) in;
layout(constant_id = DML_GROUP_SIZE) const uint GROUP_SIZE = 8;
layout(constant_id = DML_ENTRIES_WAY) const uint ENTRIES_WAY = DML_ENTRIES_NONE;
layout(constant_id = DML_SCALAR) const uint SCALAR = 1;
layout(constant_id = DML_DYNAMIC) const bool DYNAMIC = false;
layout(constant_id = DML_ENTRY_BYTES) const uint ENTRY_BYTES = 8;
layout(constant_id = DML_ENTRY_UNIT) const uint ENTRY_UNIT = 4;
layout(constant_id = DML_ENTRY_SIGNED) const bool ENTRY_SIGNED = false;
layout(constant_id = DML_ENTRY_SWAPPED) const bool ENTRY_SWAPPED = false;
layout(constant_id = DML_GATHERED) const uint GATHERED = 0;

// SEGMENTED: a range that is larger than a binding may be is an array of segments of 2**SEGMENT_BITS bytes.
// AT(src16, 4, n) is the n-th word of 2**4 bytes.
#ifdef SEGMENTED
layout(constant_id = DML_SEGMENT_BITS) const uint SEGMENT_BITS = 27;
#define SEGMENTS [DML_MAX_SEGMENTS]
#define AT(side, bits, n) side[nonuniformEXT((n) >> (SEGMENT_BITS - bits))].words[(n) & (1u << (SEGMENT_BITS - bits)) - 1]
#else
#define SEGMENTS
#define AT(side, bits, n) side.words[n]
#endif

// The same bytes, as words of each size that is used.
#ifndef VECTORS
layout(set = 0, binding = 0) readonly restrict buffer Src32 { u64vec4 words[]; } src32 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst32 { u64vec4 words[]; } dst32 SEGMENTS;
#endif
#ifndef ONLY_32_BIT
layout(set = 0, binding = 1) writeonly restrict buffer Dst2 { uint16_t words[]; } dst2 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst1 { uint8_t words[]; } dst1 SEGMENTS;
#endif
layout(set = 0, binding = 0) readonly restrict buffer Src16 { Word16 words[]; } src16 SEGMENTS;
layout(set = 0, binding = 0) readonly restrict buffer Src8 { Word8 words[]; } src8 SEGMENTS;
layout(set = 0, binding = 0) readonly restrict buffer Src4 { uint words[]; } src4 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst16 { Word16 words[]; } dst16 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst8 { Word8 words[]; } dst8 SEGMENTS;
layout(set = 0, binding = 1) WRITEONLY restrict buffer Dst4 { uint words[]; } dst4 SEGMENTS;
layout(set = 0, binding = 2, std140) uniform Table { dml_table table; };
layout(set = 0, binding = 3) readonly restrict buffer Entries { uint entries[]; }; // of the side tensor
layout(set = 0, binding = 3) readonly restrict buffer Entries16 { uvec4 entries16[]; };
layout(set = 0, binding = 4) restrict buffer Counters { uint counters[]; }; // one for each invocation of a workgroup

// From the first index of an axis to the last; and that where it is below 0. For constants, which know no abs() or min().
#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))
#define REACH(extent, stride) (int(extent - 1) * (stride))
#define BELOW(extent, stride) ((stride) < 0 ? REACH(extent, stride) : 0)

// n / d, where multiplier is floor(2**32 / d): the high half of n * multiplier is the quotient or one less.
uint divide(uint n, uint d, uint multiplier)
{
    uint high, low;
    umulExtended(n, multiplier, high, low);
    return n - high * d >= d ? high + 1 : high;
}

// Numbers of 64 bits from 0 on, the low half first.
bool is_less(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// A work chunk: the units [begin, end) of the table's `total`.
struct Chunk {
    uint begin;
    uint end;
};

// Empty if there is no n-th.
Chunk chunk_at(uint n)
{
    uint begin = n < table.chunks ? n * table.chunk : table.total;
    return Chunk(begin, begin + min(table.chunk, table.total - begin)); // begin + chunk may be 2**32
}

// The next number of a counter. SHUFFLES: all invocations have the same one.
uint take()
{
#ifdef SHUFFLES
    uint n = 0;
    if (subgroupElect())
        n = atomicAdd(counters[0], 1);
    return subgroupBroadcastFirst(n);
#else
    return atomicAdd(counters[gl_LocalInvocationID.x], 1);
#endif
}

// Without DYNAMIC a workgroup does the chunk of its own number. With it, few workgroups take chunks from an atomic counter
// until none is left, since threads that were given equal numbers of chunks would not end at the same time. Every invocation
// has a counter: each comes by each chunk once, and need not be in the same one as its neighbours. Chunks alternate between the
// two halves of the work: a fresh huge page that two threads write to at the same time is cleared by both. The last chunk,
// which may be smaller, stays the last: an invocation without a row of its own in it is done.
Chunk next_chunk()
{
    if (!DYNAMIC)
        return chunk_at(table.chunks);
    uint n = take(), left = table.chunks - n;
    return chunk_at(n < table.chunks ? n / 2 + left % 2 * (table.chunks / 2) : n);
}

Chunk first_chunk()
{
    if (DYNAMIC)
        return next_chunk();
    return chunk_at(gl_WorkGroupID.x);
}

// Where an element is, or how far it is from another.
struct Offsets {
    uint src;
    uint dst;
    uint entry;    // of the side tensor
    uint reversed; // index on the reversed axis, which src leaves out
};

Offsets move(Offsets from, uint n, Offsets strides)
{
    return Offsets(from.src + n * strides.src, from.dst + n * strides.dst, from.entry + n * strides.entry,
                   from.reversed + n * strides.reversed);
}

Offsets select(bool first, Offsets a, Offsets b)
{
    return Offsets(first ? a.src : b.src, first ? a.dst : b.dst, first ? a.entry : b.entry, first ? a.reversed : b.reversed);
}

// A combination of indices on the table's axes.
struct Position {
    Offsets at;
    uint index; // on axis 0, the innermost
    uint left;  // positions left along the innermost two axes, this one included
};

struct Axis {
    uint extent;
    uint multiplier;
    uint src_stride;
    uint dst_stride;
    uint entry_stride;
};

Axis axis_at(uint k)
{
    uvec4 first = table.axes[k].first;
    return Axis(first.x, first.y, first.z, first.w, table.axes[k].entry_stride);
}

// Takes the index on axis k off n, and moves there. n becomes the number on the axes further out.
uint move_along(inout Offsets at, uint k, inout uint n)
{
    Axis axis = axis_at(k);
    uint quotient = divide(n, axis.extent, axis.multiplier), index = n - quotient * axis.extent;
    n = quotient;
    at.dst += index * axis.dst_stride;
    if (ENTRIES_WAY != DML_ENTRIES_NONE)
        at.entry += index * axis.entry_stride;
    bool reversed = ENTRIES_WAY != DML_ENTRIES_NONE && k == table.reversed_axis;
    at.reversed = reversed ? index : at.reversed;
    at.src += reversed ? 0 : index * axis.src_stride;
    return index;
}

// The n-th position. Every table has DML_TABLE_MIN_AXES axes, at constant addresses: a CPU driver loads these once for all
// invocations.
Position locate(uint n)
{
    Position position = Position(Offsets(table.src_offset, table.dst_offset, table.entry_offset, 0), 0, 0);
    uint inner = axis_at(0).extent, outer = axis_at(1).extent;
    position.index = move_along(position.at, 0, n);
    position.left = (outer - 1 - move_along(position.at, 1, n)) * inner + inner - position.index;
    [[unroll]] for (uint k = 2; k < DML_TABLE_MIN_AXES; k++)
        move_along(position.at, k, n);
    uint k = DML_TABLE_MIN_AXES;
    if (k < table.rank) [[loop]] do {
        move_along(position.at, k, n);
    } while (++k < table.rank);
    return position;
}

// From one index on axis k to the next.
Offsets axis_strides(uint k)
{
    bool reversed = k == table.reversed_axis;
    Axis axis = axis_at(k);
    return Offsets(reversed ? 0 : axis.src_stride, axis.dst_stride, axis.entry_stride, reversed ? 1 : 0);
}

// From one position to the next: along axis 0 by `stride`, and from its end to its begin at the next index of axis 1 by `wrap`.
struct Walk {
    Offsets stride;
    Offsets wrap;
    uint extent;
};

Walk make_walk()
{
    uint extent = axis_at(0).extent;
    Offsets stride = axis_strides(0);
    return Walk(stride, move(axis_strides(1), 1 - extent, stride), extent);
}

// Only where position.left > 1.
Position next_position(Position position, Walk walk)
{
    bool wraps = position.index + 1 == walk.extent;
    Offsets at = move(position.at, 1, select(wraps, walk.wrap, walk.stride));
    return Position(at, wraps ? 0 : position.index + 1, position.left - 1);
}

uvec2 sum(uvec2 a, uvec2 b)
{
    uint carry, low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uvec2 difference(uvec2 a, uvec2 b)
{
    uint borrow, low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

// The integer at this offset of the side tensor, the low half first, of any width: of 64 bits, also where it is signed.
uvec2 integer_at(uint entry)
{
    uvec2 value = uvec2(0);
    [[unroll]] for (uint i = 0; i < ENTRY_BYTES; i += ENTRY_UNIT) {
        uint from = entry + i, bits = entries[from >> 2];
        if (ENTRY_UNIT < 4)
            bits = bits >> from % 4 * 8 & (1u << ENTRY_UNIT * 8 % 32) - 1;
        uint to = ENTRY_SWAPPED ? ENTRY_BYTES - 1 - i : i;
        value[to / 4] |= bits << to % 4 * 8;
    }
    const uint spare = ENTRY_BYTES < 4 ? 32 - 8 * ENTRY_BYTES : 0;
    if (ENTRY_SIGNED && ENTRY_BYTES < 8)
        value = uvec2(int(value.x << spare) >> spare, int(value.x << spare) >> 31);
    return value;
}

// The length at this offset, clamped.
uvec2 length_at(uint entry)
{
    uvec2 length = integer_at(entry);
    if (ENTRY_SIGNED && int(length.y) < 0)
        return uvec2(0);
    return is_less(length, table.longest) ? length : table.longest;
}

// An index of a gathered axis, of which one below 0 counts from the axis' end, clamped. The axis is within a range, so less
// than 2**32, or all its indices are the same: its high half is 0 in either case.
uint near_index(uvec2 index, uint extent)
{
    uint sign = ENTRY_SIGNED ? uint(int(index.y) >> 31) : 0, from = index.x + (extent & sign);
    return index.y == sign && from < extent ? from : (extent - 1) & ~sign;
}

// The same of an axis that a piece has not all of.
uvec2 far_index(uvec2 index, uvec2 extent)
{
    if (ENTRY_SIGNED && int(index.y) < 0) {
        index = sum(index, extent);
        index = int(index.y) < 0 ? uvec2(0) : index;
    }
    return is_less(index, extent) ? index : difference(extent, uvec2(1, 0));
}

// Adds the source offsets on the gathered axes. False if the piece does not have the source.
bool gather(inout Offsets at)
{
    bool here = true;
    [[unroll]] for (uint k = 0; k < GATHERED; k++) {
        uint axis = table.gathers + k;
        uvec4 first = table.axes[axis].first;
        uvec2 index = integer_at(at.entry + table.axes[axis].entry_stride);
        if (ENTRIES_WAY == DML_ENTRIES_CUT) {
            index = difference(far_index(index, first.xy), first.zw);
            here = here && is_less(index, uvec2(table.axes[axis].gathered_count, 0));
        } else {
            index.x = near_index(index, first.x);
        }
        at.src += index.x * table.axes[axis].gathered_stride;
    }
    return here;
}

// Adds the source offset that entries say: on gathered axes, or on the reversed one, of which the first `length` indices are
// mirrored. True if this index is one of these.
bool follow_entries(inout Offsets at)
{
    if (GATHERED > 0) {
        gather(at);
        return false;
    }
    uint length = length_at(at.entry).x, i = at.reversed;
    at.src += (i < length ? length - 1 - i : i) * table.reversed_stride;
    return i < length;
}

// The low `bits` bits of `value`, as a scalar of the destination.
void store_scalar(uint dst, uint bits, uint value)
{
#ifdef ONLY_32_BIT
    // The other bytes of the word may be another invocation's. They stay as they are, whatever comes between the two.
    uint shift = dst % 4 * 8, mask = (1u << bits) - 1;
    atomicAnd(AT(dst4, 2, dst >> 2), ~(mask << shift));
    atomicOr(AT(dst4, 2, dst >> 2), (value & mask) << shift);
#else
    if (bits == 16)
        AT(dst2, 1, dst >> 1) = uint16_t(value);
    else
        AT(dst1, 0, dst) = uint8_t(value);
#endif
}

// Scalars of one byte or two are cut from four bytes: a CPU driver loads these for all invocations at once.
void copy_scalar(uint src, uint dst)
{
    if (SCALAR == 8) {
        AT(dst8, 3, dst >> 3) = AT(src8, 3, src >> 3);
        return;
    }
    uint word = AT(src4, 2, src >> 2), shift = src % 4 * 8;
    if (SCALAR == 4)
        AT(dst4, 2, dst >> 2) = word;
    else
        store_scalar(dst, SCALAR == 2 ? 16 : 8, word >> shift);
}
