// Rows of contiguous destination bytes, put together as 16-byte words.
//
// A row is `extent` elements; an element is EXTENT_1 x EXTENT_0 items of ITEM bytes, whose sources lie near each other but
// for one axis of "streams". COUNT elements make a tile of WORDS whole words. The bytes of a tile come from one
// small window of each stream, always at the same places: the pattern is known when the pipeline is made, loops unroll, and
// what is left are loads, shifts and masks. All windows start at a multiple of ALIGN bytes; at odd ones they are shifted
// into place. (No array holds a window: compilers find equal loads more readily than they take arrays apart.)
// What precedes the first whole word of a row and follows the last goes by narrow words, so that no byte outside is written.
//
// REVERSED 1: the table names the reversed axis, rows move whole. REVERSED 2: the row itself is reversed up to its length;
// STEP is then that of the reversed part, and the rest goes the other way.
// OUTS: so many destination rows are made from one window, OUT_STEP apart in it (a de-interleave).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

layout(constant_id = 3) const uint ITEM = 1;
layout(constant_id = 4) const uint EXTENT_0 = 1;
layout(constant_id = 5) const int STRIDE_0 = 0;
layout(constant_id = 6) const uint EXTENT_1 = 1;
layout(constant_id = 7) const int STRIDE_1 = 0;
layout(constant_id = 8) const uint STREAM = 0;
layout(constant_id = 9) const int STEP = 1;
layout(constant_id = 10) const uint COUNT = 16;
layout(constant_id = 11) const uint WORDS = 1;
layout(constant_id = 12) const uint UNIT = 8;
layout(constant_id = 13) const int LOW = 0;
layout(constant_id = 14) const uint WINDOW = 2;
layout(constant_id = 15) const uint OUTS = 1;
layout(constant_id = 16) const uint STREAMS = 1;
layout(constant_id = 17) const int OUT_STEP = 0;
layout(constant_id = 18) const uint HEAD = 1;
layout(constant_id = 19) const uint UNIT_2 = 8;
layout(constant_id = 20) const int LOW_2 = 0;
layout(constant_id = 21) const uint ALIGN = 1;

const uint ELEMENT = ITEM * EXTENT_0 * EXTENT_1;
const uint EVEN = ELEMENT & (~ELEMENT + 1); // its largest power of two
const uint HEADS = EVEN < 16 ? 16 / EVEN : 1; // elements until word starts come round again

// Where byte `at` of a tile comes from: x the stream, y the byte in its window. All arguments are constants.
uvec2 pattern(uint at, int step, int low)
{
    uint within = at % ELEMENT;
    uint x0 = within / ITEM % EXTENT_0, x1 = within / ITEM / EXTENT_0;
    int offset = int(at / ELEMENT) * step + int(within % ITEM) - low;
    offset += (STREAM == 1 ? 0 : int(x0) * STRIDE_0) + (STREAM == 2 ? 0 : int(x1) * STRIDE_1);
    return uvec2(STREAM == 1 ? x0 : STREAM == 2 ? x1 : 0, uint(offset));
}

// Word i of the window that starts at src. The last may reach beyond the source, by bytes that are then not used.
uint64_t window_word(uint src, uint i)
{
    if (ALIGN == 16) {
        u64vec2 pair = src16[(src >> 4) + i / 2];
        return i % 2 == 0 ? pair.x : pair.y;
    }
    if (ALIGN == 8)
        return src8[(src >> 3) + i];
    bool last = i + 1 == WINDOW;
    if (ALIGN == 4) {
        uint from = (src >> 2) + 2 * i;
        return packUint2x32(uvec2(src4[from], src4[last ? min(from + 1, table.src_last * 2 + 1) : from + 1]));
    }
    uint from = (src >> 3) + i, shift = src % 8 * 8;
    return src8[from] >> shift | src8[last ? min(from + 1, table.src_last) : from + 1] << 1 << (63 - shift);
}

// Four bytes of a tile, or (where as many stay together) eight. `out_step` is the offset of the destination row.
uint compose4(uint src, uint first, int out_step, int step, int low, uint unit)
{
    uint word = 0;
    [[unroll]] for (uint at = 0; at < 4; at += unit) {
        uvec2 from = pattern(first + at, step, low - out_step);
        uvec2 halves = unpackUint2x32(window_word(src + from.x * table.stream_stride, from.y / 8));
        uint bytes = (from.y % 8 < 4 ? halves.x : halves.y) >> (from.y % 4 * 8);
        if (unit < 4)
            bytes &= (1u << (unit * 8 % 32)) - 1;
        word |= bytes << (at * 8);
    }
    return word;
}

uint64_t compose8(uint src, uint first, int out_step, int step, int low, uint unit)
{
    if (unit == 8) {
        uvec2 from = pattern(first, step, low - out_step);
        return window_word(src + from.x * table.stream_stride, from.y / 8);
    }
    return packUint2x32(uvec2(compose4(src, first, out_step, step, low, unit),
                              compose4(src, first + 4, out_step, step, low, unit)));
}

// The elements of a row that no whole tile covers: `head` in front and the rest after `after`.
void copy_edges(uint src, uint dst, uint count, uint head, uint after, int step)
{
    uint words = (head + count - after) * (ELEMENT / EDGE);
    [[loop]] for (uint n = gl_LocalInvocationID.x; n < words; n += GROUP_SIZE) {
        uint element = n / (ELEMENT / EDGE), byte = n % (ELEMENT / EDGE) * EDGE;
        if (element >= head)
            element += after - head;
        uint x0 = byte / ITEM % EXTENT_0, x1 = byte / ITEM / EXTENT_0;
        uint from = src + element * step + byte % ITEM;
        from += x0 * (STREAM == 1 ? table.stream_stride : STRIDE_0) + x1 * (STREAM == 2 ? table.stream_stride : STRIDE_1);
        [[unroll]] for (uint o = 0; o < OUTS; o++)
            copy_edge(from + o * OUT_STEP, dst + element * ELEMENT + byte + o * table.out_stride);
    }
}

void copy_tile(uint src, uint dst, int step, int low, uint unit)
{
    [[unroll]] for (uint o = 0; o < OUTS; o++) {
        uint word = (dst + o * table.out_stride) >> 4;
        int out_step = int(o) * OUT_STEP;
        [[unroll]] for (uint k = 0; k < 16 * WORDS; k += 16)
            dst16[word + k / 16] = u64vec2(compose8(src, k, out_step, step, low, unit),
                                           compose8(src, k + 8, out_step, step, low, unit));
    }
}

// A row, or a part of one: the elements [0, count) from src to dst. All of step, low, unit are constants.
void copy_row(uint src, uint dst, uint count, uint part, int step, int low, uint unit)
{
    uint head = min(((-dst & 15) / min(EVEN, 16) * HEAD) & (HEADS - 1), count);
    uint tiles = (count - head) / COUNT;
    if (part == 0)
        copy_edges(src, dst, count, head, head + tiles * COUNT, step);

    // Sources ascend even where destinations then descend: the other way round is slower.
    uint first = step < 0 ? tiles - 1 : 0, turn = step < 0 ? -1 : 1;
    src += head * step + low;
    dst += head * ELEMENT;
    uint begin = part * table.part_tiles, end = min(begin + table.part_tiles, tiles);
    [[loop]] for (uint n = begin + gl_LocalInvocationID.x; n < end; n += GROUP_SIZE) {
        uint tile = first + n * turn;
        copy_tile(src + tile * (COUNT * step), dst + tile * (16 * WORDS), step, low, unit);
    }
}

void main()
{
    uint begin = gl_WorkGroupID.x * table.per_group;
    uint end = min(begin + table.per_group, table.total);
    for (uint n = begin; n < end; n++) {
        uint row = divide(n, table.parts, table.parts_multiplier);
        uint part = n - row * table.parts;
        Place place = locate(row);
        if (REVERSED == 1) {
            uint length = uint(lengths[place.entry]), i = place.reversed;
            place.src += (i < length ? length - 1 - i : i) * table.reversed_stride;
        }
        if (REVERSED == 2) {
            uint length = uint(lengths[place.entry]);
            copy_row(place.src + (length - 1) * -STEP, place.dst, length, part, STEP, LOW, UNIT);
            copy_row(place.src + length * -STEP, place.dst + length * ELEMENT, table.extent - length, part, -STEP, LOW_2,
                     UNIT_2);
        } else {
            copy_row(place.src, place.dst, table.extent, part, STEP, LOW, UNIT);
        }
    }
}
