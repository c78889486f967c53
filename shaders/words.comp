// A destination without gaps, composed as words of 16 bytes, each from the rows that it consists of. For rows so short that
// their heads and tails would be most of the work. A row is `words_row` bytes: scalars that lie STRIDE apart in the source. An
// invocation makes TILE words, one after the other. Only what precedes the first whole word of all and follows the last is
// copied as scalars.
//
// ENTRIES_WAY: ADVANCE names an axis of the table.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"
#include "window.glsl"

layout(constant_id = DML_WORDS_STRIDE) const int STRIDE = 1;
layout(constant_id = DML_WORDS_TILE) const uint TILE = 1;

const int RATIO = STRIDE / int(SCALAR);              // source bytes for each of the destination,
const uint PAIRS = RATIO < 0 ? -RATIO : RATIO;       // and pairs of 8-byte words for each of its words
const int LOW = RATIO < 0 ? 16 * RATIO - STRIDE : 0; // lowest source offset in a word, from its first scalar's
const uint UNIT = RATIO == 1 ? 8 : SCALAR;           // bytes that stay together
const uint OVERLAP = RATIO < 0 ? PAIRS : 0;          // the pair around a word's scalars that the word before had too

uint pattern(uint at, int stride, int low)
{
    return at / SCALAR * stride + at % SCALAR - low;
}

// The whole words of the destination: `head` bytes precede them.
struct Whole {
    uint head;
    uint words;
};

uint source_of(Offsets at)
{
    if (ENTRIES_WAY == DML_ENTRIES_ADVANCE)
        follow_entries(at);
    return at.src;
}

// What a row has of a word and of those that follow.
struct Cursor {
    uint src;       // of the word's first scalar, if the row had all of the word; its lowest, where scalars go backwards
    uint low;       // the row's first byte
    uint high;      // and its last
    uint ending;    // bytes from the word's begin to the row's end
    Word16 overlap; // the pair that this word and the next both need
};

// The i-th 16 aligned bytes around a word's scalars, or any others of the row where it has none of them.
Word16 load_pair(Cursor cursor, uint i)
{
    return AT(src16, 4, clamp((cursor.src + 16 * i) >> 4, cursor.low >> 4, cursor.high >> 4));
}

// From byte `within` of a row on, behind `filled` bytes of a word.
Cursor begin_row(Offsets at, uint within, uint filled)
{
    Cursor cursor;
    uint row = source_of(at), reach = (table.words_row - SCALAR) * PAIRS;
    cursor.src = row + (within - filled) * RATIO + LOW;
    cursor.low = RATIO < 0 ? row - reach : row;
    cursor.high = cursor.low + reach + SCALAR - 1;
    cursor.ending = filled + table.words_row - within;
    cursor.overlap = load_pair(cursor, OVERLAP);
    return cursor;
}

// What the row has of a word, among bytes that mean nothing. Moves on to the next word.
Word16 take_word(inout Cursor cursor)
{
    Window w;
    uint shift = cursor.src % 8 * 8;
    bool second = cursor.src % 16 >= 8;
    Word16 overlap = cursor.overlap, pair = OVERLAP == 0 ? overlap : load_pair(cursor, 0);
    cursor.overlap = pair;
    Word8 word = second ? SECOND(pair) : FIRST(pair);
    [[unroll]] for (uint i = 1; i <= PAIRS; i++) {
        Word16 next = i == OVERLAP ? overlap : load_pair(cursor, i);
        Word8 a = second ? FIRST(next) : SECOND(pair), b = second ? SECOND(next) : FIRST(next);
        set_word(w, 2 * i - 2, extract(word, a, shift));
        set_word(w, 2 * i - 1, extract(a, b, shift));
        word = b;
        pair = next;
    }
    if (OVERLAP == 0)
        cursor.overlap = pair;
    cursor.src += 16 * RATIO;
    cursor.ending -= 16;
    return Word16(compose8(w, 0, STRIDE, LOW, UNIT), compose8(w, 8, STRIDE, LOW, UNIT));
}

// The first n of 16 bytes from a, the others from b.
Word16 join(Word16 a, Word16 b, uint n)
{
#ifdef VECTORS
    int left = int(n);
    return b ^ ((a ^ b) & uvec4(low_bytes(left), low_bytes(left - 4), low_bytes(left - 8), low_bytes(left - 12)));
#else
    uint64_t mask = (uint64_t(1) << (n % 8 * 8)) - 1, low = n < 8 ? mask : ~uint64_t(0), high = n < 8 ? 0 : mask;
    return u64vec2(b.x ^ ((a.x ^ b.x) & low), b.y ^ ((a.y ^ b.y) & high));
#endif
}

// The n-th tile. Each iteration of the inner loop adds what one row has of one word, of which `filled` bytes are there already.
// Most rows are found from the one before.
void make_words(uint n, Whole whole, Walk walk)
{
    uint first = whole.head + n * TILE * 16, row = divide(first, table.words_row, table.words_row_multiplier);
    uint within = first - row * table.words_row, filled = 0;
    uint to = (table.dst_offset + first) >> 4, end = to + min(TILE, whole.words - n * TILE);
    Word16 word = Word16(0);
    [[loop]] do {
        Position position = locate(row);
        Cursor cursor = begin_row(position.at, within, filled);
        bool more;
        within = 0;
        [[loop]] do {
            uint ending = cursor.ending;
            bool full = ending >= 16, ends = ending <= 16;
            word = join(word, take_word(cursor), filled);
            filled = full ? 0 : ending;
            if (full) {
                AT(dst16, 4, to) = word;
                to++;
            }
            if (ends) {
                row++;
                position = next_position(position, walk);
            }
            more = to < end && position.left > 0;
            if (ends && more)
                cursor = begin_row(position.at, 0, filled);
        } while (more);
    } while (to < end);
}

void copy_head_and_tail(Whole whole)
{
    uint n = gl_LocalInvocationID.x * SCALAR, bytes = table.words_rows * table.words_row - whole.words * 16;
    if (n < bytes) [[loop]] do {
        uint at = n < whole.head ? n : n + whole.words * 16, row = divide(at, table.words_row, table.words_row_multiplier);
        copy_scalar(source_of(locate(row).at) + (at - row * table.words_row) * RATIO, table.dst_offset + at);
        n += GROUP_SIZE * SCALAR;
    } while (n < bytes);
}

void main()
{
    Walk walk = make_walk();
    uint bytes = table.words_rows * table.words_row, head = min(-table.dst_offset & 15, bytes);
    Whole whole = Whole(head, (bytes - head) / 16);
    uint tiles = (whole.words + TILE - 1) / TILE;
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint n = chunk.begin * table.strip, last = min(n + table.strip, tiles);
        n += gl_LocalInvocationID.x;
        if (n < last) do {
            make_words(n, whole, walk);
            n += GROUP_SIZE;
        } while (n < last);
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
    if (gl_WorkGroupID.x == 0)
        copy_head_and_tail(whole);
}
