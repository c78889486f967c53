// Rows of contiguous destination bytes, composed as words of 8, 16 or 32 bytes.
//
// A row is `rows_extent` elements. An element is EXTENT_2 x EXTENT_1 x EXTENT_0 items of ITEM bytes, whose sources lie near
// each other, but for one axis each of whose indices has a source stream of its own. TILE elements are a whole number of words:
// a tile, which one invocation makes. Its bytes come from one small window of each stream, always at the same offsets: the
// pattern is known when the pipeline is compiled, so loops unroll into loads, shifts and masks. Windows whose addresses are not
// multiples of 8 are shifted into place.
//
// The bytes before a row's first whole word (head) and behind its last (tail) are copied as scalars: no byte outside a row is
// written.
//
// ENTRIES_WAY: ADVANCE names an axis of the table, rows move as a whole. ROW mirrors the first elements of each row, up to its
// length; STRIDE is that of the mirrored body, and the others go the other way.
// PER_WINDOW rows are made from one window, WINDOW_STRIDE apart in it (a de-interleave). Row r of these may begin at byte
// PHASE + r * SKEW of a word: it is then stored from its first whole word on, of elements that have a word more (a transpose).
// SCHEDULE 0: software prefetch. Behind each row a workgroup reads the cache lines that the hardware prefetcher does not
// expect: those between this row and the next, or the next row.
// AHEAD: software prefetch of rows that are read forwards, so many iterations of the workgroup before they are loaded.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"
#include "window.glsl"

layout(constant_id = DML_ROWS_ITEM) const uint ITEM = 1;
layout(constant_id = DML_ROWS_EXTENT_0) const uint EXTENT_0 = 1;
layout(constant_id = DML_ROWS_STRIDE_0) const int STRIDE_0 = 0;
layout(constant_id = DML_ROWS_EXTENT_1) const uint EXTENT_1 = 1;
layout(constant_id = DML_ROWS_STRIDE_1) const int STRIDE_1 = 0;
layout(constant_id = DML_ROWS_EXTENT_2) const uint EXTENT_2 = 1;
layout(constant_id = DML_ROWS_STRIDE_2) const int STRIDE_2 = 0;
layout(constant_id = DML_ROWS_STREAM) const uint STREAM = 0;
layout(constant_id = DML_ROWS_STRIDE) const int STRIDE = 1;
layout(constant_id = DML_ROWS_TILE) const uint TILE = 16;
layout(constant_id = DML_ROWS_WORD) const uint WORD = 16;
layout(constant_id = DML_ROWS_PER_WINDOW) const uint PER_WINDOW = 1;
layout(constant_id = DML_ROWS_WINDOW_STRIDE) const int WINDOW_STRIDE = 0;
layout(constant_id = DML_ROWS_UNIT) const uint UNIT = 8;
layout(constant_id = DML_ROWS_FORWARD_UNIT) const uint FORWARD_UNIT = 8;
layout(constant_id = DML_ROWS_ALIGN) const uint ALIGN = 1;
layout(constant_id = DML_ROWS_SCHEDULE) const uint SCHEDULE = 1;
layout(constant_id = DML_ROWS_AHEAD) const uint AHEAD = 0;
layout(constant_id = DML_ROWS_PHASE) const uint PHASE = 0;
layout(constant_id = DML_ROWS_SKEW) const uint SKEW = 0;

const bool PREFETCH = SCHEDULE == 0;
const uint LANES = GROUP_SIZE / (PREFETCH ? 1 : SCHEDULE); // invocations for one row
const uint CACHE_LINE = 64;

const uint PHASED = PHASE + SKEW > 0 ? 1 : 0;
const uint STREAMS = (STREAM == 1 ? EXTENT_0 : STREAM == 2 ? EXTENT_1 : STREAM == 3 ? EXTENT_2 : 1) - PHASED; // of use
const uint ELEMENT = ITEM * EXTENT_0 * EXTENT_1 * EXTENT_2;
const uint EDGE = ITEM % 8 == 0 ? 8 : ITEM & (~ITEM + 1); // bytes of a store in heads and tails
const uint WORDS = TILE * ELEMENT / WORD - PHASED;        // that are stored of a tile

// Every PERIOD elements, or PERIOD_WORDS words, an element begins at a word. The first that does, at a distance of d bytes, is
// d / EVEN * INVERSE modulo PERIOD: INVERSE is that of the element's odd part modulo 32, by Newton's method from the
// inverse modulo 8.
const uint EVEN = ELEMENT & (~ELEMENT + 1); // largest power of two that divides an element
const uint ODD = ELEMENT / EVEN;
const uint INVERSE = ODD * (2 - ODD * ODD);
const uint PERIOD = EVEN < WORD ? WORD / EVEN : 1;
const uint PERIOD_WORDS = ELEMENT * PERIOD / WORD;

// The window: its lowest source offset from the first element's, where elements are STRIDE or FORWARD apart, and its 8-byte
// words.
const int FORWARD = ENTRIES_WAY == DML_ENTRIES_ROW ? -STRIDE : STRIDE;
const int PATTERN_LOW =
    BELOW(EXTENT_0, STRIDE_0) + BELOW(EXTENT_1, STRIDE_1) + BELOW(EXTENT_2, STRIDE_2) + BELOW(PER_WINDOW, WINDOW_STRIDE);
const int LOW = BELOW(TILE, STRIDE) + PATTERN_LOW;
const int FORWARD_LOW = BELOW(TILE, FORWARD) + PATTERN_LOW;
const int SPAN = int(ITEM) + MAGNITUDE(REACH(EXTENT_0, STRIDE_0)) + MAGNITUDE(REACH(EXTENT_1, STRIDE_1)) +
                 MAGNITUDE(REACH(EXTENT_2, STRIDE_2)) + MAGNITUDE(REACH(PER_WINDOW, WINDOW_STRIDE)) +
                 MAGNITUDE(REACH(TILE, STRIDE));
const uint WINDOW = uint(SPAN + 7) / 8;

uint prefetched = 0; // keeps the compiler from leaving out what is read only for the cache

// Elements of a row that are whole words, a tile or more of them. The last tile may overlap the one before it.
struct Body {
    uint begin;
    uint count;
};

uint tiles_of(Body body)
{
    return (body.count + TILE - 1) / TILE;
}

// Source offset of byte `within` of an element, given how far apart streams are.
uint source_within(uint within, uint stream_stride)
{
    uint item = within / ITEM;
    uvec3 x = uvec3(item % EXTENT_0, item / EXTENT_0 % EXTENT_1, item / EXTENT_0 / EXTENT_1);
    return within % ITEM + x.x * (STREAM == 1 ? stream_stride : STRIDE_0) + x.y * (STREAM == 2 ? stream_stride : STRIDE_1) +
           x.z * (STREAM == 3 ? stream_stride : STRIDE_2);
}

// The stream of that byte.
uint stream_within(uint within)
{
    uint item = within / ITEM;
    if (STREAM == 1)
        return item % EXTENT_0;
    return STREAM == 2 ? item / EXTENT_0 % EXTENT_1 : STREAM == 3 ? item / EXTENT_0 / EXTENT_1 : 0;
}

// Where byte `at` of a tile is in the windows, which lie one behind the other. All arguments are constants.
uint pattern(uint at, int stride, int low)
{
    uint offset = at / ELEMENT * stride + source_within(at % ELEMENT, 0) - low;
    return stream_within(at % ELEMENT) * (8 * WINDOW) + offset;
}

// The window that starts at src. Whole pairs of 8-byte words are loaded, also where the source ends within one, but none beyond
// what is bound.
void load_window(inout Window w, uint first, uint src)
{
#ifndef VECTORS
    if (ALIGN == 32) {
        [[unroll]] for (uint i = 0; i < WINDOW; i += 4) {
            u64vec4 quad = AT(src32, 5, (src >> 5) + i / 4);
            [[unroll]] for (uint k = 0; k < 4; k++)
                set_word(w, first + i + k, quad[k]);
        }
        return;
    }
#endif
    if (ALIGN >= 16) {
        [[unroll]] for (uint i = 0; i < WINDOW; i += 2) {
            Word16 pair = AT(src16, 4, (src >> 4) + i / 2);
            set_word(w, first + i, FIRST(pair));
            if (i + 1 < WINDOW)
                set_word(w, first + i + 1, SECOND(pair));
        }
    } else if (ALIGN == 8 && (WINDOW < 8 || uint(abs(STRIDE)) > ELEMENT)) {
        // Few words, or words that are not all used: one load each.
        [[unroll]] for (uint i = 0; i < WINDOW; i++)
            set_word(w, first + i, AT(src8, 3, (src >> 3) + i));
    } else {
        // Pairs, which cost a CPU hardly more than single words. The first word may be either of its pair.
        uint from = src >> 4, last = table.src_last >> 1, shift = src % 8 * 8;
        bool second = src % 16 >= 8;
        Word16 pair = AT(src16, 4, from);
        Word8 word = second ? SECOND(pair) : FIRST(pair);
        [[unroll]] for (uint i = 1; i <= WINDOW; i++) {
            Word16 either = pair;
            if (i % 2 == 1) {
                pair = AT(src16, 4, min(from + (i + 1) / 2, last));
                either = Word16(SECOND(either), FIRST(pair));
            }
            Word8 next = second ? SECOND(either) : FIRST(either);
            set_word(w, first + i - 1, ALIGN == 8 ? word : extract(word, next, shift));
            word = next;
        }
    }
}

// Eight bytes of a tile, for the row whose source is `window_stride` further; `mirrored`: of the mirrored body of a row.
Word8 compose(Window w, uint first, int window_stride, bool mirrored)
{
    if (ENTRIES_WAY == DML_ENTRIES_ROW && !mirrored)
        return compose8(w, first, FORWARD, FORWARD_LOW, FORWARD_UNIT);
    return compose8(w, first, STRIDE, LOW - window_stride, UNIT);
}

// EDGE bytes, at a multiple of as many in the destination, and anywhere in the source.
void copy_edge(uint src, uint dst)
{
    if (EDGE == SCALAR) {
        copy_scalar(src, dst);
        return;
    }
    uint from = src >> 3;
    Word8 bytes = extract(AT(src8, 3, from), AT(src8, 3, min(from + 1, table.src_last)), src % 8 * 8);
    if (EDGE == 8)
        AT(dst8, 3, dst >> 3) = bytes;
    else if (EDGE == 4)
        AT(dst4, 2, dst >> 2) = halves_of(bytes).x;
    else
        store_scalar(dst, 16, halves_of(bytes).x);
}

// The elements of a row outside its bodies a and b: in front of them, between them and behind.
void copy_head_and_tail(uint src, uint dst, uint length, Body a, Body b)
{
    const uint EDGES = ELEMENT / EDGE;
    uint between = b.begin - a.count, edges = (table.rows_extent - (a.count + b.count)) * EDGES;
    uint n = gl_LocalInvocationID.x % LANES;
    if (n < edges) [[loop]] do {
        uint element = n / EDGES, byte = n % EDGES * EDGE;
        element += element >= between ? a.count + b.count : element >= a.begin ? a.count : 0;
        uint index = element < length ? length - 1 - element : element;
        uint from = src + index * FORWARD + source_within(byte, table.rows_stream_stride);
        [[unroll]] for (uint r = 0; r < PER_WINDOW; r++)
            copy_edge(from + r * WINDOW_STRIDE, dst + element * ELEMENT + byte + r * table.rows_window_dst_stride);
        n += LANES;
    } while (n < edges);
}

// Reads the cache lines of the tile that this invocation makes AHEAD iterations later.
void prefetch_tile(uint src)
{
    const uint bytes = TILE * uint(STRIDE);
    uint from = src + AHEAD * LANES * bytes;
    [[unroll]] for (uint i = 0; i < bytes; i += CACHE_LINE)
        prefetched ^= AT(src4, 2, min((from + i) >> 2, 2 * table.src_last));
}

// A tile, but for its first `skip` words.
void copy_tile(uint src, uint dst, bool mirrored, uint skip)
{
    Window w;
    [[unroll]] for (uint s = 0; s < STREAMS; s++) {
        if (AHEAD > 0)
            prefetch_tile(src + s * table.rows_stream_stride);
        load_window(w, s * WINDOW, src + s * table.rows_stream_stride);
    }
    [[unroll]] for (uint r = 0; r < PER_WINDOW; r++) {
        const uint skipped = -(PHASE + r * SKEW) & (WORD - 1);
        uint to = (dst + r * table.rows_window_dst_stride + skipped) / WORD;
        [[unroll]] for (uint k = 0; k < WORDS; k++) {
#ifdef VECTORS
            uvec4 word = uvec4(0);
            word.xy = compose(w, skipped + WORD * k, int(r) * WINDOW_STRIDE, mirrored);
            if (WORD > 8)
                word.zw = compose(w, skipped + WORD * k + 8, int(r) * WINDOW_STRIDE, mirrored);
            if (SCALAR == 0 || k + PERIOD_WORDS >= WORDS || k >= skip) {
                if (WORD == 8)
                    AT(dst8, 3, to + k) = word.xy;
                else
                    AT(dst16, 4, to + k) = word;
            }
#else
            u64vec4 word = u64vec4(0);
            [[unroll]] for (uint i = 0; i < WORD / 8; i++)
                word[i] = compose(w, skipped + WORD * k + 8 * i, int(r) * WINDOW_STRIDE, mirrored);
            if (SCALAR == 0 || k + PERIOD_WORDS >= WORDS || k >= skip) {
                if (WORD == 32)
                    AT(dst32, 5, to + k) = word;
                else if (WORD == 8)
                    AT(dst8, 3, to + k) = word.x;
                else
                    AT(dst16, 4, to + k) = word.xy;
            }
#endif
        }
    }
}

// Of the elements [first, last).
Body whole_words(uint dst, uint first, uint last)
{
    uint distance = -(dst + first * ELEMENT) & (WORD - 1);
    uint head = min(distance / min(EVEN, WORD) * INVERSE & (PERIOD - 1), last - first);
    uint begin = first + head, count = last - begin - (last - begin) % PERIOD;
    return Body(begin, count < TILE ? 0 : count);
}

// Reads on from the row at src towards the next, whose source is `distance` from it.
void prefetch(uint src, uint distance)
{
    bool down = int(distance) < 0;
    uint low = src + (FORWARD < 0 ? (table.rows_extent - 1) * FORWARD : 0), n = gl_LocalInvocationID.x;
    uint from = down ? low - CACHE_LINE : low + table.rows_extent * uint(abs(FORWARD));
    uint stride = down ? -CACHE_LINE : CACHE_LINE;
    if (n < table.rows_prefetch_lines) [[loop]] do {
        prefetched ^= AT(src4, 2, min((from + n * stride) >> 2, 2 * table.src_last));
        n += GROUP_SIZE;
    } while (n < table.rows_prefetch_lines);
}

// One strip of a row whose first `length` elements are mirrored.
void copy_row(uint src, uint dst, uint length, uint strip)
{
    Body a = ENTRIES_WAY == DML_ENTRIES_ROW ? whole_words(dst, 0, length) : Body(0, 0);
    Body b = whole_words(dst, length, table.rows_extent);
    uint tiles_a = tiles_of(a), tiles_b = tiles_of(b);
    uint begin = strip * table.strip, end = min(begin + table.strip, tiles_a + tiles_b);
    uint n = begin + gl_LocalInvocationID.x % LANES;
    if (n < end) [[loop]] do {
        bool mirrored = ENTRIES_WAY == DML_ENTRIES_ROW && n < tiles_a;
        uint tile = mirrored ? n : n - tiles_a;
        // Sources ascend, even where destinations then descend: hardware prefetches forwards. What was prefetched is in the
        // cache either way.
        if (!PREFETCH && (mirrored || (ENTRIES_WAY != DML_ENTRIES_ROW && STRIDE < 0)))
            tile = (mirrored ? tiles_a : tiles_b) - 1 - tile;
        uint last = (mirrored ? a.count : b.count) - TILE, first = min(tile * TILE, last);
        uint element = first + (mirrored ? a.begin : b.begin);
        uint from = ENTRIES_WAY == DML_ENTRIES_ROW
                        ? mirrored ? (length - 1 - element) * FORWARD + LOW : element * FORWARD + FORWARD_LOW
                        : element * STRIDE + LOW;
        copy_tile(src + from, dst + element * ELEMENT, mirrored, (tile * TILE - first) / PERIOD * PERIOD_WORDS);
        n += LANES;
    } while (n < end);
    // Behind the tiles, whose loads have brought the cache lines: many at a time, where these would wait for one.
    if (SCALAR != 0 && strip == 0)
        copy_head_and_tail(src, dst, length, a, b);
}

void main()
{
    // Most rows are found from the one before. Rows side by side, and those of a table without axes, are located one by one.
    Walk walk = make_walk();
    Chunk chunk = first_chunk();
    uint row = gl_LocalInvocationID.x / LANES, n = chunk.begin + row;
    if (n < chunk.end) [[loop]] do {
        uint strip = divide(n, table.rows, table.rows_multiplier);
        Position position = locate(n - strip * table.rows);
        uint stop = n + (SCHEDULE > 1 ? 1 : min(position.left, chunk.end - n));
        do {
            Offsets at = position.at;
            bool wraps = position.index + 1 == walk.extent, mirrored = ENTRIES_WAY == DML_ENTRIES_ADVANCE && follow_entries(at);
            Offsets next = select(wraps, walk.wrap, walk.stride);
            uint distance = next.src + next.reversed * (mirrored ? -table.reversed_stride : table.reversed_stride);
            copy_row(at.src, at.dst, ENTRIES_WAY == DML_ENTRIES_ROW ? length_at(at.entry).x : 0, strip);
            if (PREFETCH && !wraps) // the row behind a wrap may be anywhere
                prefetch(at.src, distance);
            position.at = move(position.at, 1, next); // next_position() would compute `next` once more
            position.index = wraps ? 0 : position.index + 1;
            n += PREFETCH ? 1 : SCHEDULE;
        } while (n < stop);
        if (n >= chunk.end) {
            chunk = next_chunk();
            n = chunk.begin + row;
        }
    } while (n < chunk.end);
    if ((PREFETCH || AHEAD > 0) && table.rank > DML_TABLE_MAX_AXES)
        AT(dst4, 2, 0) = prefetched; // never
}
