// A destination without gaps, as words of 16 bytes, each put together from the items that it is made of: for items too short to be rows, or so
// short that what narrow words do at a row's ends is most of its work. An invocation makes WORDS words, one after the other; only what precedes
// the first whole word of all and follows the last goes by narrow words.
//
// REVERSED: 0 no axis, 1 the one that the table names.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

layout(constant_id = 14) const uint WORDS = 1;

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

// 16 aligned bytes of the source; any others where there are none.
u64vec2 load_pair(uint src)
{
    return src16[min(src >> 4, table.src_last >> 1)];
}

// 16 bytes from src on, of the aligned ones around it.
u64vec2 cut_out(u64vec2 a, u64vec2 b, uint src)
{
    bool second = src % 16 >= 8;
    uint shift = src % 8 * 8;
    uint64_t x = second ? a.y : a.x, y = second ? b.x : a.y, z = second ? b.y : b.x;
    return u64vec2(x >> shift | y << 1 << (63 - shift), y >> shift | z << 1 << (63 - shift));
}

// The first n of 16 bytes from a, the others from b.
u64vec2 join(u64vec2 a, u64vec2 b, uint n)
{
    uint64_t mask = (uint64_t(1) << (n % 8 * 8)) - 1, low = n < 8 ? mask : ~uint64_t(0), high = n < 8 ? 0 : mask;
    return u64vec2(b.x ^ ((a.x ^ b.x) & low), b.y ^ ((a.y ^ b.y) & high));
}

// The n-th WORDS words. Each turn of the inner loop brings what one item has of one word: `src` is where the word would begin if the item had
// all of it, `filled` how many of its bytes are there, and behind `ending` bytes the item ends. Most items are found from the one before.
void make_words(uint n, Whole whole, Way way)
{
    uint first = whole.head + n * WORDS * 16, item = first / table.item, within = first - item * table.item, filled = 0;
    uint to = (table.dst_offset + first) >> 4, end = to + min(WORDS, whole.words - n * WORDS);
    u64vec2 word = u64vec2(0);
    [[loop]] do {
        Place place = locate(item);
        uint src = source_of(place.at) + within - filled, ending = filled + table.item - within;
        u64vec2 pair = load_pair(src);
        within = 0;
        [[loop]] do {
            u64vec2 next = load_pair(src + 16);
            word = join(word, cut_out(pair, next, src), filled);
            pair = next;
            bool full = ending >= 16, ends = ending <= 16;
            filled = full ? 0 : ending;
            src += 16;
            ending -= 16;
            if (full) {
                dst16[to] = word;
                to++;
            }
            if (ends) {
                item++;
                place = next_place(place, way);
            }
            if (ends && to < end && place.left > 0) {
                src = source_of(place.at) - filled;
                ending = filled + table.item;
                pair = load_pair(src);
            }
        } while (to < end && place.left > 0);
    } while (to < end);
}

void copy_edges(Whole whole)
{
    uint n = gl_LocalInvocationID.x * EDGE, edges = table.extent * table.item - whole.words * 16;
    if (n < edges) [[loop]] do {
        uint at = n < whole.head ? n : n + whole.words * 16, item = at / table.item;
        copy_edge(source_of(locate(item).at) + (at - item * table.item), table.dst_offset + at);
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
