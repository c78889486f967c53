// Rows of contiguous destination bytes, put together as words of 16 or 32 bytes.
//
// A row is `extent` elements; an element is EXTENT_2 x EXTENT_1 x EXTENT_0 items of ITEM bytes, whose sources lie near each other but
// for one axis of "streams". COUNT elements make a tile of WORDS whole words. The bytes of a tile come from one
// small window of each stream, always at the same places: the pattern is known when the pipeline is made, loops unroll, and
// what is left are loads, shifts and masks. All windows start at a multiple of ALIGN bytes; at odd ones they are shifted
// into place.
// What precedes the first whole word of a row and follows the last that ends with an element goes by narrow words, so that no byte outside is
// written.
//
// REVERSED 1: the table names the reversed axis, rows move whole. REVERSED 2: the row itself is reversed up to its length;
// STEP is then that of the reversed part, and the rest goes the other way.
// OUTS: so many destination rows are made from one window, OUT_STEP apart in it (a de-interleave).
// AHEAD: behind each row, what lies between it and the next is read too (1), and so is the next (2): a CPU foresees only what goes on and on in
// one direction.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"
#include "window.glsl"

layout(constant_id = 4) const uint ITEM = 1;
layout(constant_id = 5) const uint EXTENT_0 = 1;
layout(constant_id = 6) const int STRIDE_0 = 0;
layout(constant_id = 7) const uint EXTENT_1 = 1;
layout(constant_id = 8) const int STRIDE_1 = 0;
layout(constant_id = 9) const uint EXTENT_2 = 1;
layout(constant_id = 10) const int STRIDE_2 = 0;
layout(constant_id = 11) const uint STREAM = 0;
layout(constant_id = 12) const int STEP = 1;
layout(constant_id = 13) const uint COUNT = 16;
layout(constant_id = 14) const uint WORDS = 1;
layout(constant_id = 15) const uint UNIT = 8;
layout(constant_id = 16) const int LOW = 0;
layout(constant_id = 17) const uint WINDOW = 2;
layout(constant_id = 18) const uint OUTS = 1;
layout(constant_id = 19) const int OUT_STEP = 0;
layout(constant_id = 20) const uint HEAD = 1;
layout(constant_id = 21) const uint UNIT_2 = 8;
layout(constant_id = 22) const int LOW_2 = 0;
layout(constant_id = 23) const uint ALIGN = 1;
layout(constant_id = 24) const uint WORD = 16;
layout(constant_id = 25) const uint ABREAST = 1;
layout(constant_id = 26) const uint AHEAD = 0;

const uint STREAMS = STREAM == 1 ? EXTENT_0 : STREAM == 2 ? EXTENT_1 : STREAM == 3 ? EXTENT_2 : 1;
const uint LANES = GROUP_SIZE / ABREAST; // invocations for one row
const uint ELEMENT = ITEM * EXTENT_0 * EXTENT_1 * EXTENT_2;
const uint EVEN = ELEMENT & (~ELEMENT + 1); // its largest power of two
const uint EDGES = ELEMENT / (EDGE == 0 ? 1 : EDGE); // narrow words of an element
const uint HEADS = EVEN < WORD ? WORD / EVEN : 1; // elements until word starts come round again,
const uint HEADS_WORDS = ELEMENT * HEADS / WORD; // and the words that they make

const int FORWARD = REVERSED == 2 ? -STEP : STEP; // where elements are not reversed
const uint CACHE_LINE = 64;

uint touched = 0; // what was read only to be in the cache

// Elements of a row, so many from one on, that make whole words, and a tile or more: the last tile may overlap the one before it.
struct Part {
    uint begin;
    uint whole;
};

uint tiles_of(Part part)
{
    return (part.whole + COUNT - 1) / COUNT;
}

// Source offset of byte `within` of an element, given how far apart streams are.
uint source_within(uint within, uint stream_stride)
{
    uint item = within / ITEM;
    uvec3 x = uvec3(item % EXTENT_0, item / EXTENT_0 % EXTENT_1, item / EXTENT_0 / EXTENT_1);
    return within % ITEM + x.x * (STREAM == 1 ? stream_stride : STRIDE_0) + x.y * (STREAM == 2 ? stream_stride : STRIDE_1) +
           x.z * (STREAM == 3 ? stream_stride : STRIDE_2);
}

// Which stream that byte is of.
uint stream_within(uint within)
{
    uint item = within / ITEM;
    return STREAM == 1 ? item % EXTENT_0 : STREAM == 2 ? item / EXTENT_0 % EXTENT_1 : STREAM == 3 ? item / EXTENT_0 / EXTENT_1 : 0;
}

// Where byte `at` of a tile is in the windows, one behind the other. All arguments are constants.
uint pattern(uint at, int step, int low)
{
    uint offset = at / ELEMENT * step + source_within(at % ELEMENT, 0) - low;
    return stream_within(at % ELEMENT) * (8 * WINDOW) + offset;
}

// The window that starts at src. What is loaded may reach beyond the source on either side, as far as whole pairs of words do, and no
// further than what is bound: those bytes are not used.
void load_window(inout Window w, uint first, uint src)
{
    if (ALIGN == 32) {
        [[unroll]] for (uint i = 0; i < WINDOW; i += 4) {
            u64vec4 quad = AT(src32, 5, (src >> 5) + i / 4);
            [[unroll]] for (uint k = 0; k < 4; k++)
                set_word(w, first + i + k, quad[k]);
        }
    } else if (ALIGN == 16) {
        [[unroll]] for (uint i = 0; i < WINDOW; i += 2) {
            u64vec2 pair = AT(src16, 4, (src >> 4) + i / 2);
            set_word(w, first + i, pair.x);
            if (i + 1 < WINDOW)
                set_word(w, first + i + 1, pair.y);
        }
    } else if (ALIGN == 8 && (WINDOW < 8 || uint(abs(STEP)) > ELEMENT)) {
        [[unroll]] for (uint i = 0; i < WINDOW; i++)
            set_word(w, first + i, AT(src8, 3, (src >> 3) + i));
    } else {
        // Two words at a time, for which a driver on a CPU takes little longer than for one; the first may be either of a pair. Where some are not used,
        // or there are few, one at a time is less.
        uint from = src >> 4, last = table.src_last >> 1, shift = src % 8 * 8;
        bool second = src % 16 >= 8;
        u64vec2 pair = AT(src16, 4, from);
        uint64_t word = second ? pair.y : pair.x;
        [[unroll]] for (uint i = 1; i <= WINDOW; i++) {
            u64vec2 either = pair;
            if (i % 2 == 1) {
                pair = AT(src16, 4, min(from + (i + 1) / 2, last));
                either = u64vec2(either.y, pair.x);
            }
            uint64_t next = second ? either.y : either.x;
            set_word(w, first + i - 1, ALIGN == 8 ? word : cut_out(word, next, shift));
            word = next;
        }
    }
}

// Eight bytes of a tile, for the destination row whose source is `out_step` further; `turned` is whether the tile is of the reversed part of a row.
uint64_t compose(Window w, uint first, int out_step, bool turned)
{
    if (REVERSED == 2 && !turned)
        return compose8(w, first, FORWARD, LOW_2, UNIT_2);
    return compose8(w, first, STEP, LOW - out_step, UNIT);
}

// The elements of a row that no tile covers: those in front of the two parts, between them and behind.
void copy_edges(uint src, uint dst, uint length, Part a, Part b)
{
    uint between = b.begin - a.whole, words = (table.extent - (a.whole + b.whole)) * EDGES;
    uint n = gl_LocalInvocationID.x % LANES;
    if (n < words) [[loop]] do {
        uint element = n / EDGES, byte = n % EDGES * EDGE;
        element += element >= between ? a.whole + b.whole : element >= a.begin ? a.whole : 0;
        uint from = src + (element < length ? length - 1 - element : element) * FORWARD + source_within(byte, table.stream_stride);
        [[unroll]] for (uint o = 0; o < OUTS; o++)
            copy_edge(from + o * OUT_STEP, dst + element * ELEMENT + byte + o * table.out_stride);
        n += LANES;
    } while (n < words);
}

// A tile but for its first `skip` words.
void copy_tile(uint src, uint dst, bool turned, uint skip)
{
    Window w;
    [[unroll]] for (uint s = 0; s < STREAMS; s++)
        load_window(w, s * WINDOW, src + s * table.stream_stride);
    [[unroll]] for (uint o = 0; o < OUTS; o++) {
        uint to = (dst + o * table.out_stride) / WORD;
        [[unroll]] for (uint k = 0; k < WORDS; k++) {
            u64vec4 word = u64vec4(0);
            [[unroll]] for (uint i = 0; i < WORD / 8; i++)
                word[i] = compose(w, WORD * k + 8 * i, int(o) * OUT_STEP, turned);
            if (EDGE == 0 || k + HEADS_WORDS >= WORDS || k >= skip) {
                if (WORD == 32)
                    AT(dst32, 5, to + k) = word;
                else
                    AT(dst16, 4, to + k) = word.xy;
            }
        }
    }
}

// Of the elements from first up to last.
Part whole_words(uint dst, uint first, uint last)
{
    uint head = min(((-(dst + first * ELEMENT) & (WORD - 1)) / min(EVEN, WORD) * HEAD) & (HEADS - 1), last - first);
    uint begin = first + head, whole = last - begin - (last - begin) % HEADS;
    return Part(begin, whole < COUNT ? 0 : whole);
}

// Reads on from a row to the next, which is `ahead` of it, and brings that into the cache.
void touch(uint src, uint ahead)
{
    bool down = int(ahead) < 0;
    uint low = src + (FORWARD < 0 ? (table.extent - 1) * FORWARD : 0), n = gl_LocalInvocationID.x;
    uint from = down ? low - CACHE_LINE : low + table.extent * uint(abs(FORWARD)), step = down ? -CACHE_LINE : CACHE_LINE;
    if (n < table.lines_ahead) [[loop]] do {
        touched ^= AT(src4, 2, min((from + n * step) >> 2, 2 * table.src_last));
        n += GROUP_SIZE;
    } while (n < table.lines_ahead);
}

// A row whose first `length` elements are reversed; its tiles are shared out in parts.
void copy_row(uint src, uint dst, uint length, uint part)
{
    Part a = REVERSED == 2 ? whole_words(dst, 0, length) : Part(0, 0), b = whole_words(dst, length, table.extent);
    uint tiles_a = tiles_of(a), tiles_b = tiles_of(b);
    uint begin = part * table.part_tiles, end = min(begin + table.part_tiles, tiles_a + tiles_b);
    uint n = begin + gl_LocalInvocationID.x % LANES;
    if (n < end) [[loop]] do {
        bool turned = REVERSED == 2 && n < tiles_a;
        uint tile = turned ? n : n - tiles_a;
        // Sources ascend even where destinations then descend: the other way round is slower, but for what is in the cache.
        if (AHEAD == 0 && (turned || (REVERSED != 2 && STEP < 0)))
            tile = (turned ? tiles_a : tiles_b) - 1 - tile;
        uint last = (turned ? a.whole : b.whole) - COUNT, first = min(tile * COUNT, last);
        uint element = first + (turned ? a.begin : b.begin);
        uint from = REVERSED == 2 ? turned ? (length - 1 - element) * FORWARD + LOW : element * FORWARD + LOW_2
                                  : element * STEP + LOW;
        copy_tile(src + from, dst + element * ELEMENT, turned, (tile * COUNT - first) / HEADS * HEADS_WORDS);
        n += LANES;
    } while (n < end);
    // Behind the tiles, whose loads have brought the cache lines: many at a time, where these would wait for one.
    if (EDGE != 0 && part == 0)
        copy_edges(src, dst, length, a, b);
}

void main()
{
    // Most rows of a work group are found from the one before. Rows side by side, or of a table without axes, are looked up one by one.
    Way way = find_way();
    Share share = first_share();
    uint row = gl_LocalInvocationID.x / LANES, n = share.begin + row;
    if (n < share.end) [[loop]] do {
        uint part = divide(n, table.rows, table.rows_multiplier);
        Place place = locate(n - part * table.rows);
        uint stop = n + (ABREAST > 1 ? 1 : min(place.left, share.end - n));
        do {
            Offsets at = place.at;
            bool turns = place.index + 1 == way.extent, back = REVERSED == 1 && reverse(at);
            Offsets next = either(turns, way.turn, way.step);
            uint ahead = next.src + next.reversed * (back ? -table.reversed_stride : table.reversed_stride);
            copy_row(at.src, at.dst, REVERSED == 2 ? uint(lengths[at.entry]) : 0, part);
            if (AHEAD != 0 && !turns) // what lies there, nobody knows
                touch(at.src, ahead);
            place.at = move(place.at, 1, next); // by what is known already: next_place would find it anew, which was measured
            place.index = turns ? 0 : place.index + 1;
            n += ABREAST;
        } while (n < stop);
        if (n >= share.end) {
            share = next_share();
            n = share.begin + row;
        }
    } while (n < share.end);
    if (AHEAD != 0 && table.rank > MOST_AXES)
        AT(dst4, 2, 0) = touched; // never; but no compiler knows, which else would leave out what nobody uses
}
