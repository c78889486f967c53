// A destination without gaps, of scalars that the source has in any order.
//
// The first DML_MAX_CHAIN axes of the table are a row: contiguous in the destination, anywhere in the source. Rows lie along
// the next axis, ACROSS. ROWS neighbours on it are contiguous in the source, so 8 bytes that are loaded have a scalar for each
// of ROWS rows. Or all INSIDE indices of the axis behind it lie between its neighbours: then they are rows as well. A block is
// a word of 8 bytes of each of these rows: as many loads as a word has scalars, transposed in registers. An invocation makes
// the `blocks_words` blocks of a tile, one after the other.
//
// PHASED: rows begin anywhere in a word, and a row's words are cut from two blocks each. A word belongs to the row that it
// begins in. Its last bytes may be of the next row, whose begin is loaded again behind the row's end. Words behind the last of
// ROWS rows are edges, moved as scalars, as are both ends of the destination.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

layout(constant_id = DML_BLOCKS_ROWS) const uint ROWS = 1;
layout(constant_id = DML_BLOCKS_CHAIN) const uint CHAIN = DML_MAX_CHAIN; // axes of a row that are needed
layout(constant_id = DML_BLOCKS_ALIGN) const uint ALIGN = 1; // divides all windows' addresses
layout(constant_id = DML_BLOCKS_INSIDE) const uint INSIDE = 1; // divides ROWS; 1 if PHASED
layout(constant_id = DML_BLOCKS_PHASED) const bool PHASED = true;

const uint ACROSS = DML_MAX_CHAIN;
const uint SCALARS = 8 / SCALAR;     // of a word
const uint HALF = SCALARS / 2;       // of 4 bytes, if any
const uint BYTES = ROWS * SCALAR;    // of use in a window,
const uint LOAD = BYTES > 4 ? 8 : 4; // which lies in one word of so many bytes,
const bool SPLIT = BYTES > ALIGN;    // or in two of them

// Where a row's scalar is in the source, and its indices on the axes of the row.
struct Place {
    uint src;
    uvec4 index;
};

// From one scalar of a row to the next, at an axis' end one index further on the next axis, and at the row's end to its begin.
struct Path {
    uint stride;
    uvec4 extent;
    uvec4 wrap;
};

Path make_path()
{
    Path path = Path(axis_at(0).src_stride, uvec4(1), uvec4(0));
    [[unroll]] for (uint k = 0; k < CHAIN; k++) {
        Axis axis = axis_at(k);
        path.extent[k] = axis.extent;
        path.wrap[k] = (k + 1 < CHAIN ? axis_at(k + 1).src_stride : 0) - axis.extent * axis.src_stride;
    }
    return path;
}

void move_on(inout Place at, Path path)
{
    bool wraps = true;
    at.src += path.stride;
    [[unroll]] for (uint k = 0; k < CHAIN; k++) {
        uint next = at.index[k] + (wraps ? 1 : 0);
        wraps = next == path.extent[k];
        at.index[k] = wraps ? 0 : next;
        at.src += wraps ? path.wrap[k] : 0;
    }
}

// BYTES that begin at src, and others behind them. Words beyond what is bound have no bytes of use.
uvec2 load_window(uint src)
{
    uint last = table.src_last;
    if (LOAD == 4) {
        uint from = src >> 2, shift = src % 4 * 8, word = AT(src4, 2, min(from, 2 * last + 1)), next = 0;
        if (SPLIT)
            next = AT(src4, 2, min(from + 1, 2 * last + 1));
        return uvec2(word >> shift | next << 1 << (31 - shift), 0);
    }
    uint from = src >> 3;
    Word8 word = AT(src8, 3, min(from, last));
    if (SPLIT)
        word = extract(word, AT(src8, 3, min(from + 1, last)), src % 8 * 8);
    return halves_of(word);
}

void swap_pairs(inout uint a, inout uint b)
{
    uint low = (a & 0xffff) | b << 16;
    b = a >> 16 | (b & 0xffff0000);
    a = low;
}

void swap_bytes(inout uint a, inout uint b)
{
    uint low = (a & 0x00ff00ff) | (b & 0x00ff00ff) << 8;
    b = (a >> 8 & 0x00ff00ff) | (b & 0xff00ff00);
    a = low;
}

// Transposes the scalars of as many words of 4 bytes as one has scalars.
void transpose(inout uvec4 words)
{
    if (SCALAR == 1) {
        swap_pairs(words.x, words.z);
        swap_pairs(words.y, words.w);
        swap_bytes(words.x, words.y);
        swap_bytes(words.z, words.w);
    } else if (SCALAR == 2) {
        swap_pairs(words.x, words.y);
    }
}

// The last two words of each row that were loaded. Four bytes that are loaded push out the first four.
uvec4 rows[8];

void push(uint r, uint bytes)
{
    rows[r] = uvec4(rows[r].yzw, bytes);
}

// Loads the next word of each row, and moves on. One loop for both of its halves: half as much for a driver to compile.
void load_block(inout Place at, Path path)
{
    if (SCALAR == 8) {
        uvec2 window = load_window(at.src);
        move_on(at, path);
        rows[0] = uvec4(rows[0].zw, window);
        return;
    }
    uint side = 0;
    [[loop]] do {
        uvec4 low = uvec4(0), high = uvec4(0);
        [[unroll]] for (uint i = 0; i < HALF; i++) {
            uvec2 window = load_window(at.src);
            move_on(at, path);
            low[i] = window.x;
            high[i] = window.y;
        }
        transpose(low);
        transpose(high);
        [[unroll]] for (uint i = 0; i < HALF; i++) {
            push(i, low[i]);
            push(HALF + i, high[i]);
        }
    } while (++side < 2);
}

// All but the first n bytes of the last words become those of the next row.
void go_on(int n)
{
    uvec2 mask = uvec2(low_bytes(n), low_bytes(n - 4));
    [[unroll]] for (uint r = 0; r + 1 < ROWS; r++)
        rows[r].zw = rows[r + 1].zw ^ ((rows[r].zw ^ rows[r + 1].zw) & mask);
}

// The n-th tile: those beside each other along ACROSS come first, then those along a row.
void copy_tile(uint n, Path path)
{
    uint along = divide(n, table.blocks_sides, table.blocks_sides_multiplier), side = n - along * table.blocks_sides;
    uint outer = divide(along, table.blocks_tiles, table.blocks_tiles_multiplier), tile = along - outer * table.blocks_tiles;
    Axis across = axis_at(ACROSS), inside = axis_at(ACROSS + 1);
    uint row = min(side * (ROWS / INSIDE), across.extent - ROWS / INSIDE);
    uint begin = tile * table.blocks_words * 8, scalar = begin / SCALAR;
    Offsets at = Offsets(table.src_offset + row * across.src_stride, table.dst_offset + row * across.dst_stride, 0, 0);
    Place place;
    [[unroll]] for (uint k = 0; k < CHAIN; k++)
        place.index[k] = move_along(at, k, scalar);
    uint k = ACROSS + 2;
    if (k < table.rank) [[loop]] do {
        move_along(at, k, outer);
    } while (++k < table.rank);
    place.src = at.src;

    uint left = table.blocks_row - begin, end = left - min(left, table.blocks_words * 8);
    int ahead = int(left);  // bytes of the row from the block on that is loaded next
    bool ready = !PHASED;   // else there is no block before it
    [[loop]] do {
        load_block(place, path);
        if (PHASED)
            go_on(ahead);
        ahead -= 8;
        [[unroll]] for (uint r = 0; r < ROWS; r++) {
            uint to = at.dst + r / INSIDE * across.dst_stride + r % INSIDE * inside.dst_stride, phase = PHASED ? -to % 8 : 0;
            Word8 word = word_from(rows[r].zw);
            if (PHASED)
                word = extract(word_from(rows[r].xy), word, phase * 8);
            if (!PHASED || (ready && phase < left && (r + 1 < ROWS || phase + 8 <= left)))
                AT(dst8, 3, (to + phase) >> 3) = word;
        }
        at.dst += ready ? 8 : 0;
        left -= ready ? min(left, 8) : 0;
        ready = true;
    } while (left > end);
}

// The scalars around the end of the n-th rows that are moved together, counted from 1, or around the destination's begin.
void copy_edge(uint n)
{
    uint extent = axis_at(ACROSS).extent, outer = divide(n - 1, table.blocks_sides, table.blocks_sides_multiplier);
    uint row = outer * extent + min((n - outer * table.blocks_sides) * ROWS, extent);
    uint at = table.dst_offset + (n == 0 ? 0 : row) * table.blocks_row, i = at % 8 == 0 ? 8 : 0;
    at -= at % 8;
    if (i < 8) [[loop]] do {
        uint within = at + i - table.dst_offset;
        if (within < table.blocks_bytes)
            copy_scalar(locate(within / SCALAR).at.src, at + i);
        i += SCALAR;
    } while (i < 8);
}

void main()
{
    Path path = make_path();
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint n = chunk.begin * table.strip, last = n + table.strip;
        uint tiles = min(last, table.blocks_count), edges = min(last, table.blocks_count + table.blocks_edges);
        n += gl_LocalInvocationID.x;
        if (n < tiles) [[loop]] do {
            copy_tile(n, path);
            n += GROUP_SIZE;
        } while (n < tiles);
        if (n < edges) [[loop]] do {
            copy_edge(n - table.blocks_count);
            n += GROUP_SIZE;
        } while (n < edges);
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
}
