// A plan with a table: for each element of the source, the entry of a row. FORMULAS: with a formula, which computes it.
//
// An invocation makes a tile: TILE elements along axis 0 of the table, for each of SIDE indices of axis 1. Where their sources
// lie near each other, one small window has them all, at offsets that are known when the pipeline is compiled. WORDS says what
// of a tile is whole words of 16 bytes: RUNS, the elements along axis 0; MIXED, all of them, those along axis 1 first. A run
// may begin anywhere in a word: its first tile then lacks the elements in front of it. Those of a tile that is not whole are
// stored as scalars.
//
// OPERATIONS: entries are not looked up, but computed by up to four operations of float32, each with a constant of the row.
#include "plan.glsl"

layout(constant_id = DML_TABLES_ITEM) const uint ITEM = 4; // bytes of an entry
layout(constant_id = DML_TABLES_SOURCE) const uint SOURCE = 1;
layout(constant_id = DML_TABLES_TILE) const uint TILE = 1;
layout(constant_id = DML_TABLES_SIDE) const uint SIDE = 1;
layout(constant_id = DML_TABLES_WORDS) const uint WORDS = DML_TABLES_SCALARS;
layout(constant_id = DML_TABLES_WINDOWED) const bool WINDOWED = false;
layout(constant_id = DML_TABLES_STRIDE) const int STRIDE = 1;
layout(constant_id = DML_TABLES_SIDE_STRIDE) const int SIDE_STRIDE = 0;
layout(constant_id = DML_TABLES_SAME_ROWS) const bool SAME_ROWS = false;
#ifdef FORMULAS
const uint OPERATIONS = 1; // entries are computed
#else
layout(constant_id = DML_TABLES_OPERATIONS) const uint OPERATIONS = 0;

layout(set = 0, binding = 3) readonly restrict buffer Constants { vec4 constants[]; }; // of each row
#endif

const uint PER_WORD = ITEM < 16 ? 16 / ITEM : 1; // elements
const uint ROW = ITEM << 8 * SOURCE;             // bytes
const int LOW = BELOW(TILE, STRIDE) + BELOW(SIDE, SIDE_STRIDE); // of the window, from the first element
const uint SPAN = uint(MAGNITUDE(REACH(TILE, STRIDE)) + MAGNITUDE(REACH(SIDE, SIDE_STRIDE))) + SOURCE;
const uint WINDOW = (SPAN + 7) / 8; // words of 8 bytes

// From one element of a tile to the next, along each of its axes.
struct Strides {
    Offsets along;
    Offsets side;
};

Offsets element_of(Offsets first, Strides strides, uint i, uint side)
{
    return move(move(first, i, strides.along), side, strides.side);
}

uint source_byte(uint src)
{
    return AT(src4, 2, src >> 2) >> src % 4 * 8 & 255u;
}

#ifdef FORMULAS
#include "formulas.glsl"
#else
#define Row vec4 // its constants

Row row_at(uint entry)
{
    return constants[entry / ROW];
}

// The number that an element is.
uint number_at(uint src)
{
    return SOURCE == 1 ? source_byte(src) : source_byte(src) | source_byte(src + 1) << 8;
}

// The entry, of float32 or float16.
uint computed(vec4 constants, uint number)
{
    precise float x = (OPERATIONS & DML_OPERATION_SIGNED) != 0 ? float(int(number << 24) >> 24) : float(number);
    [[unroll]] for (uint i = 0; i < 4; i++) {
        uint operation = OPERATIONS >> 4 * i & 15u;
        float by = constants[i];
        if (operation == DML_OPERATION_ADD)
            x = x + by;
        else if (operation == DML_OPERATION_SUBTRACT)
            x = x - by;
        else if (operation == DML_OPERATION_SUBTRACT_FROM)
            x = by - x;
        else if (operation == DML_OPERATION_MULTIPLY)
            x = x * by;
        else if (operation == DML_OPERATION_DIVIDE)
            x = x / by;
        else if (operation == DML_OPERATION_DIVIDE_INTO)
            x = by / x;
    }
    return ITEM == 2 ? packHalf2x16(vec2(x, 0)) : floatBitsToUint(x);
}
#endif

// Four bytes of the table, or what is left of them in the same word.
uint bytes_at(uint entry)
{
    return entries[entry >> 2] >> entry % 4 * 8;
}

void store_element(Offsets at)
{
    uint number = number_at(at.src), entry = at.entry + number * ITEM, bytes = 0;
    if (OPERATIONS != 0)
        bytes = computed(row_at(at.entry), number);
    [[unroll]] for (uint i = 0; i < ITEM; i += SCALAR) {
        uint bits = OPERATIONS != 0 ? bytes >> i * 8 : bytes_at(entry + i);
        if (SCALAR == 8)
            AT(dst8, 3, (at.dst + i) >> 3) = word_from(uvec2(bits, bytes_at(entry + i + 4)));
        else if (SCALAR == 4)
            AT(dst4, 2, (at.dst + i) >> 2) = bits;
        else
            store_scalar(at.dst + i, SCALAR == 2 ? 16 : 8, bits);
    }
}

Word8 window[DML_TABLES_MOST_SPAN / 8];

// The bytes from src on. Words beyond what is bound have no bytes of use.
void load_window(uint src)
{
    uint from = src >> 3, shift = src % 8 * 8;
    Word8 word = AT(src8, 3, min(from, table.src_last));
    [[unroll]] for (uint i = 0; i < WINDOW; i++) {
        Word8 next = AT(src8, 3, min(from + i + 1, table.src_last));
        window[i] = extract(word, next, shift);
        word = next;
    }
}

uint window_byte(uint at)
{
    uvec2 halves = halves_of(window[at / 8]);
    return (at % 8 < 4 ? halves.x : halves.y) >> at % 4 * 8 & 255u;
}

uint window_word(uint at)
{
    uvec2 halves = halves_of(window[at / 8]);
    if (at % 8 == 0)
        return halves.x;
    if (at % 8 == 4)
        return halves.y;
    return window_byte(at) | window_byte(at + 1) << 8 | window_byte(at + 2) << 16 | window_byte(at + 3) << 24;
}

// An element's number; `i` and `side` are constants.
uint number_of(Offsets first, Strides strides, uint i, uint side)
{
    if (!WINDOWED)
        return number_at(element_of(first, strides, i, side).src);
    uint at = uint(int(i) * STRIDE + int(side) * SIDE_STRIDE - LOW);
    if (SOURCE == 4)
        return window_word(at);
    return SOURCE == 1 ? window_byte(at) : window_byte(at) | window_byte(at + 1) << 8;
}

Row same_rows[SIDE]; // where all tiles have the same

// The n-th word of a tile; n is a constant.
Word16 make_word(Offsets first, Strides strides, uint n)
{
    uint word[4] = uint[4](0, 0, 0, 0);
    [[unroll]] for (uint k = 0; k < PER_WORD; k++) {
        uint at = n * PER_WORD + k, to = k * ITEM;
        uint i = WORDS == DML_TABLES_MIXED ? at / SIDE : at % TILE, side = WORDS == DML_TABLES_MIXED ? at % SIDE : at / TILE;
        uint number = number_of(first, strides, i, side), row = element_of(first, strides, i, side).entry;
        uint entry = row + number * ITEM, bytes = 0;
        if (ITEM < 4 || OPERATIONS != 0)
            bytes = OPERATIONS == 0 ? bytes_at(entry) : computed(SAME_ROWS ? same_rows[side] : row_at(row), number);
        if (ITEM < 4) {
            word[to / 4] |= (bytes & (1u << ITEM % 4 * 8) - 1) << to % 4 * 8;
        } else if (OPERATIONS != 0) {
            word[to / 4] = bytes;
        } else {
            [[unroll]] for (uint j = 0; j < ITEM / 4; j++)
                word[(to / 4 + j) % 4] = entries[entry / 4 + j];
        }
    }
#ifdef VECTORS
    return uvec4(word[0], word[1], word[2], word[3]);
#else
    return u64vec2(word_from(uvec2(word[0], word[1])), word_from(uvec2(word[2], word[3])));
#endif
}

// All elements of a tile; the first one is at `first`.
void store_words(Offsets first, Strides strides)
{
    if (WINDOWED)
        load_window(first.src + LOW);
    [[unroll]] for (uint n = 0; n < TILE * SIDE / PER_WORD; n++) {
        uint to = WORDS == DML_TABLES_MIXED ? first.dst : element_of(first, strides, 0, n * PER_WORD / TILE).dst;
        AT(dst16, 4, (to >> 4) + (WORDS == DML_TABLES_MIXED ? n : n % (TILE / PER_WORD))) = make_word(first, strides, n);
    }
}

void make_tile(uint n, uint extent, Strides strides)
{
    uint outer = divide(n, table.tiles, table.tiles_multiplier), tile = n - outer * table.tiles;
    Offsets at = locate(outer * table.tiled_elements).at;
    uint begin = tile * TILE;
    if (WORDS == DML_TABLES_RUNS)
        begin -= at.dst % 16 / ITEM;
    if (WORDS != DML_TABLES_SCALARS && begin < extent && extent - begin >= TILE) {
        store_words(move(at, begin, strides.along), strides);
        return;
    }
    uint i = 0;
    [[loop]] do {
        uint along = begin + i / SIDE;
        if (along < extent)
            store_element(element_of(at, strides, along, i % SIDE));
    } while (++i < TILE * SIDE);
}

void main()
{
    Strides strides = Strides(axis_strides(0), axis_strides(1));
    uint extent = axis_at(0).extent;
    if (SAME_ROWS && OPERATIONS != 0)
        [[unroll]] for (uint side = 0; side < SIDE; side++)
            same_rows[side] = row_at(table.entry_offset + side * strides.side.entry);
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint n = chunk.begin * table.strip, end = min(n + table.strip, table.tiles_count);
        n += gl_LocalInvocationID.x;
        if (n < end) do {
            make_tile(n, extent, strides);
            n += GROUP_SIZE;
        } while (n < end);
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
}
