// What the kernels share: the windows of source and destination, the table and finding one's way in it, and the shares of the work.
// Mirrors csrc/core/dispatch.h. All byte offsets are modulo 2**32, so that negative strides need no thought.
//
// A driver that runs invocations side by side on a CPU executes what is in an `if` also where no invocation wants it, and the body of a
// `for` once more than wanted. So conditions are few, loops end by `do while`, and what is seldom needed has a loop of its own.

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#ifdef SEGMENTED
#extension GL_EXT_nonuniform_qualifier : require
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint GROUP_SIZE = 8;
layout(constant_id = 1) const uint REVERSED = 0;
layout(constant_id = 2) const uint EDGE = 1;
layout(constant_id = 3) const bool DYNAMIC = false;

const uint MOST_AXES = 131; // one more than a plan has: DML_MAX_AXES + 1
const uint LEAST_AXES = 4;  // which a table has: DML_MIN_AXES

// SEGMENTED: of windows that are larger than a binding may be, 2**SEGMENT_BITS bytes a binding. AT(src16, 4, n) is the n-th word of 2**4 bytes.
#ifdef SEGMENTED
layout(constant_id = 27) const uint SEGMENT_BITS = 27;
const uint MAX_SEGMENTS = 16; // DML_MAX_SEGMENTS
#define SEGMENTS [MAX_SEGMENTS]
#define AT(side, bits, n) side[nonuniformEXT((n) >> (SEGMENT_BITS - bits))].words[(n) & (1u << (SEGMENT_BITS - bits)) - 1]
#else
#define SEGMENTS
#define AT(side, bits, n) side.words[n]
#endif

// The same bytes, as words of each size that is used.
layout(set = 0, binding = 0) readonly restrict buffer Src32 { u64vec4 words[]; } src32 SEGMENTS;
layout(set = 0, binding = 0) readonly restrict buffer Src16 { u64vec2 words[]; } src16 SEGMENTS;
layout(set = 0, binding = 0) readonly restrict buffer Src8 { uint64_t words[]; } src8 SEGMENTS;
layout(set = 0, binding = 0) readonly restrict buffer Src4 { uint words[]; } src4 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst32 { u64vec4 words[]; } dst32 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst16 { u64vec2 words[]; } dst16 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst8 { uint64_t words[]; } dst8 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst4 { uint words[]; } dst4 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst2 { uint16_t words[]; } dst2 SEGMENTS;
layout(set = 0, binding = 1) writeonly restrict buffer Dst1 { uint8_t words[]; } dst1 SEGMENTS;
layout(set = 0, binding = 2, std140) uniform Table {
    uint rank;
    uint total;
    uint per_share;
    uint src_offset;
    uint dst_offset;
    uint length_offset;
    uint reversed_axis;
    uint reversed_stride;
    uint extent;
    uint stream_stride;
    uint out_stride;
    uint src_last;
    uint rows;
    uint rows_multiplier;
    uint part_tiles;
    uint shares;
    uvec2 reversed_begin; // 64 bits each, low word first
    uvec2 source_begin;
    uvec2 source_end;
    uint item;
    uint item_multiplier;
    uint lines_ahead;
    uvec4 axes[2 * MOST_AXES]; // the innermost first; of each: extent, multiplier, src_stride, dst_stride; length_stride
} table;
layout(set = 0, binding = 3) readonly restrict buffer Lengths { int64_t lengths[]; };
layout(set = 0, binding = 4) restrict buffer Taken { uint taken[]; };

// n / d, where multiplier is 2**32 / d rounded down: its product's high word is the quotient or one less.
uint divide(uint n, uint d, uint multiplier)
{
    uint high, low;
    umulExtended(n, multiplier, high, low);
    return n - high * d >= d ? high + 1 : high;
}

// Of the rows, or walks, that there are to do, numbered from 0: as many as a work group does at a time.
struct Share {
    uint begin;
    uint end;
};

// An empty one if there is no n-th.
Share share_at(uint n)
{
    uint begin = n < table.shares ? n * table.per_share : table.total;
    return Share(begin, begin + min(table.per_share, table.total - begin)); // begin + per_share may be 2**32
}

// A work group has the share of its own number. DYNAMIC: few work groups take whichever is next until none is left, since threads that
// were given equal numbers of shares would not end at the same time. Every invocation counts for itself: each comes by each share once, and
// need not be in the same one as its neighbours. Shares are taken from either half in turn: neighbours would be written at the same
// time, and a fresh huge page that two threads write to is cleared by both. The last share, which may be smaller than the others, stays
// the last: who finds no row of its own in it is done.
Share next_share()
{
    if (!DYNAMIC)
        return share_at(table.shares);
    uint n = atomicAdd(taken[gl_LocalInvocationID.x], 1), left = table.shares - n;
    return share_at(n < table.shares ? n / 2 + left % 2 * (table.shares / 2) : n);
}

Share first_share()
{
    if (DYNAMIC)
        return next_share();
    return share_at(gl_WorkGroupID.x);
}

// Where something is, or how far from something else.
struct Offsets {
    uint src;
    uint dst;
    uint entry;    // of lengths
    uint reversed; // index on the reversed axis, left out of src
};

Offsets move(Offsets from, uint n, Offsets step)
{
    return Offsets(from.src + n * step.src, from.dst + n * step.dst, from.entry + n * step.entry, from.reversed + n * step.reversed);
}

Offsets either(bool first, Offsets a, Offsets b)
{
    return Offsets(first ? a.src : b.src, first ? a.dst : b.dst, first ? a.entry : b.entry, first ? a.reversed : b.reversed);
}

struct Place {
    Offsets at;
    uint index; // along the innermost axis
    uint left;  // how many places are left along the innermost two, this one included
};

// Moves along axis k to where the n-th combination of it and those further out lies: its index on the axis, and n of those further out.
uint move_along(inout Offsets at, uint k, inout uint n)
{
    uvec4 axis = table.axes[2 * k];
    uint quotient = divide(n, axis.x, axis.y), index = n - quotient * axis.x;
    n = quotient;
    at.dst += index * axis.w;
    if (REVERSED != 0)
        at.entry += index * table.axes[2 * k + 1].x;
    bool reversed = REVERSED != 0 && k == table.reversed_axis;
    at.reversed = reversed ? index : at.reversed;
    at.src += reversed ? 0 : index * axis.z;
    return index;
}

// Where the n-th combination of the table's axes lies. Every table has the first few, whose addresses are constants: a driver on a CPU reads these once
// for all invocations.
Place locate(uint n)
{
    Place place = Place(Offsets(table.src_offset, table.dst_offset, table.length_offset, 0), 0, 0);
    uint inner = table.axes[0].x, outer = table.axes[2].x;
    place.index = move_along(place.at, 0, n);
    place.left = (outer - 1 - move_along(place.at, 1, n)) * inner + inner - place.index;
    [[unroll]] for (uint k = 2; k < LEAST_AXES; k++)
        move_along(place.at, k, n);
    uint k = LEAST_AXES;
    if (k < table.rank) [[loop]] do {
        move_along(place.at, k, n);
    } while (++k < table.rank);
    return place;
}

// From one place to the next along axis k.
Offsets axis_step(uint k)
{
    bool reversed = k == table.reversed_axis;
    uvec4 axis = table.axes[2 * k];
    return Offsets(reversed ? 0 : axis.z, axis.w, table.axes[2 * k + 1].x, reversed ? 1 : 0);
}

// From each place to the next: along the innermost axis, or to where it begins again. True along the innermost two.
struct Way {
    Offsets step;
    Offsets turn;
    uint extent;
};

Way find_way()
{
    uint extent = table.axes[0].x;
    Offsets step = axis_step(0);
    return Way(step, move(axis_step(1), 1 - extent, step), extent);
}

Place next_place(Place place, Way way)
{
    bool turns = place.index + 1 == way.extent;
    return Place(move(place.at, 1, either(turns, way.turn, way.step)), turns ? 0 : place.index + 1, place.left - 1);
}

// Where the source really is, of what is on a reversed axis whose first elements change places; whether it is one of these.
bool reverse(inout Offsets at)
{
    uint length = uint(lengths[at.entry]), i = at.reversed;
    at.src += (i < length ? length - 1 - i : i) * table.reversed_stride;
    return i < length;
}

// One narrow word. Those of one byte or two are cut from one of four, as which a driver on a CPU loads for all invocations at once.
void copy_edge(uint src, uint dst)
{
    if (EDGE == 8) {
        AT(dst8, 3, dst >> 3) = AT(src8, 3, src >> 3);
        return;
    }
    uint word = AT(src4, 2, src >> 2), shift = src % 4 * 8;
    if (EDGE == 4)
        AT(dst4, 2, dst >> 2) = word;
    else if (EDGE == 2)
        AT(dst2, 1, dst >> 1) = uint16_t(word >> shift);
    else
        AT(dst1, 0, dst) = uint8_t(word >> shift);
}
