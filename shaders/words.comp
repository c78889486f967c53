// A destination without gaps, as words of 16 bytes, each put together from the rows that it is made of: for rows so short that what narrow words do at
// their ends is most of the work. A row is `item` bytes: narrow words, of EDGE, that lie STEP apart in the source. An invocation makes WORDS words, one
// after the other; only what precedes the first whole word of all and follows the last goes by narrow words.
//
// REVERSED: 0 no axis, 1 the one that the table names.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"
#include "window.glsl"

layout(constant_id = 12) const int STEP = 1;
layout(constant_id = 14) const uint WORDS = 1;

const int RATIO = STEP / int(EDGE);                // source bytes for each of the destination,
const uint PAIRS = RATIO < 0 ? -RATIO : RATIO;     // and pairs of 8-byte words for each of its words
const int LOW = RATIO < 0 ? 16 * RATIO - STEP : 0; // lowest source offset in a word, from its first item's
const uint UNIT = RATIO == 1 ? 8 : EDGE;           // bytes that stay together
const uint KEPT = RATIO < 0 ? PAIRS : 0;           // of the pairs around a word's items, the one that the word before had too

uint pattern(uint at, int step, int low)
{
    return at / EDGE * step + at % EDGE - low;
}

// The whole words of the destination: `head` bytes precede them.
struct Whole {
    uint head;
    uint words;
};

uint source_of(Offsets at)
{
    if (REVERSED == 1)
        reverse(at);
    return at.src;
}

// A row's part in a word and in those that follow.
struct Part {
    uint src;     // of the word's first item, if the row had all of the word; its lowest, where items go backwards
    uint low;     // the row's first byte
    uint high;    // and its last
    uint ending;  // bytes from the word's begin to the row's end
    u64vec2 kept; // the pair that this word and the next both need
};

// The i-th 16 aligned bytes around a word's items; any others of the row where it has none of them.
u64vec2 load_pair(Part part, uint i)
{
    return AT(src16, 4, clamp((part.src + 16 * i) >> 4, part.low >> 4, part.high >> 4));
}

// From byte `within` of a row on, behind `filled` bytes of a word.
Part begin_part(Offsets at, uint within, uint filled)
{
    Part part;
    uint row = source_of(at), reach = (table.item - EDGE) * PAIRS;
    part.src = row + (within - filled) * RATIO + LOW;
    part.low = RATIO < 0 ? row - reach : row;
    part.high = part.low + reach + EDGE - 1;
    part.ending = filled + table.item - within;
    part.kept = load_pair(part, KEPT);
    return part;
}

// What the row has of a word, and anything beside it. Goes on to the next word.
u64vec2 take_word(inout Part part)
{
    Window w;
    uint shift = part.src % 8 * 8;
    bool second = part.src % 16 >= 8;
    u64vec2 kept = part.kept, pair = KEPT == 0 ? kept : load_pair(part, 0);
    part.kept = pair;
    uint64_t word = second ? pair.y : pair.x;
    [[unroll]] for (uint i = 1; i <= PAIRS; i++) {
        u64vec2 next = i == KEPT ? kept : load_pair(part, i);
        uint64_t a = second ? next.x : pair.y, b = second ? next.y : next.x;
        set_word(w, 2 * i - 2, cut_out(word, a, shift));
        set_word(w, 2 * i - 1, cut_out(a, b, shift));
        word = b;
        pair = next;
    }
    if (KEPT == 0)
        part.kept = pair;
    part.src += 16 * RATIO;
    part.ending -= 16;
    return u64vec2(compose8(w, 0, STEP, LOW, UNIT), compose8(w, 8, STEP, LOW, UNIT));
}

// The first n of 16 bytes from a, the others from b.
u64vec2 join(u64vec2 a, u64vec2 b, uint n)
{
    uint64_t mask = (uint64_t(1) << (n % 8 * 8)) - 1, low = n < 8 ? mask : ~uint64_t(0), high = n < 8 ? 0 : mask;
    return u64vec2(b.x ^ ((a.x ^ b.x) & low), b.y ^ ((a.y ^ b.y) & high));
}

// The n-th WORDS words. Each turn of the inner loop brings what one row has of one word, of which `filled` bytes are there.
// Most rows are found from the one before.
void make_words(uint n, Whole whole, Way way)
{
    uint first = whole.head + n * WORDS * 16, row = divide(first, table.item, table.item_multiplier);
    uint within = first - row * table.item, filled = 0;
    uint to = (table.dst_offset + first) >> 4, end = to + min(WORDS, whole.words - n * WORDS);
    u64vec2 word = u64vec2(0);
    [[loop]] do {
        Place place = locate(row);
        Part part = begin_part(place.at, within, filled);
        bool more;
        within = 0;
        [[loop]] do {
            uint ending = part.ending;
            bool full = ending >= 16, ends = ending <= 16;
            word = join(word, take_word(part), filled);
            filled = full ? 0 : ending;
            if (full) {
                AT(dst16, 4, to) = word;
                to++;
            }
            if (ends) {
                row++;
                place = next_place(place, way);
            }
            more = to < end && place.left > 0;
            if (ends && more)
                part = begin_part(place.at, 0, filled);
        } while (more);
    } while (to < end);
}

void copy_edges(Whole whole)
{
    uint n = gl_LocalInvocationID.x * EDGE, edges = table.extent * table.item - whole.words * 16;
    if (n < edges) [[loop]] do {
        uint at = n < whole.head ? n : n + whole.words * 16, row = divide(at, table.item, table.item_multiplier);
        copy_edge(source_of(locate(row).at) + (at - row * table.item) * RATIO, table.dst_offset + at);
        n += GROUP_SIZE * EDGE;
    } while (n < edges);
}

void main()
{
    Way way = find_way();
    uint bytes = table.extent * table.item, head = min(-table.dst_offset & 15, bytes);
    Whole whole = Whole(head, (bytes - head) / 16);
    uint tiles = (whole.words + WORDS - 1) / WORDS;
    Share share = first_share();
    if (share.begin < share.end) [[loop]] do {
        uint n = share.begin * table.part_tiles, last = min(n + table.part_tiles, tiles);
        n += gl_LocalInvocationID.x;
        if (n < last) do {
            make_words(n, whole, way);
            n += GROUP_SIZE;
        } while (n < last);
        if (++share.begin == share.end)
            share = next_share();
    } while (share.begin < share.end);
    if (gl_WorkGroupID.x == 0)
        copy_edges(whole);
}
