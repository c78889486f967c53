// A plan with a table: for each element of the source, the entry of a row. The table's axis 0 is the run that a workgroup goes
// along; the run's position is looked up once. Where the run has no gaps in the destination, an invocation looks up TILE
// entries, which make a word of 16 bytes, and stores them at once; a run's ends are stored as scalars.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

layout(constant_id = DML_TABLES_ITEM) const uint ITEM = 4; // bytes of an entry
layout(constant_id = DML_TABLES_TILE) const uint TILE = 1;
layout(constant_id = DML_TABLES_SOURCE) const uint SOURCE = 1;

uint source_byte(uint src)
{
    return AT(src4, 2, src >> 2) >> src % 4 * 8 & 255u;
}

// Where the entry for an element begins, in bytes.
uint entry_of(Offsets at)
{
    uint n = source_byte(at.src);
    if (SOURCE == 2)
        n |= source_byte(at.src + 1) << 8;
    return at.entry + n * ITEM;
}

// Four bytes of the table, or what is left of them in the same word.
uint bytes_at(uint entry)
{
    return entries[entry >> 2] >> entry % 4 * 8;
}

Word8 word_of(uint low, uint high)
{
#ifdef VECTORS
    return uvec2(low, high);
#else
    return uint64_t(low) | uint64_t(high) << 32;
#endif
}

void store_element(Offsets at)
{
    uint entry = entry_of(at);
    [[unroll]] for (uint i = 0; i < ITEM; i += SCALAR) {
        if (SCALAR == 8) {
            AT(dst8, 3, (at.dst + i) >> 3) = word_of(bytes_at(entry + i), bytes_at(entry + i + 4));
        } else if (SCALAR == 4) {
            AT(dst4, 2, (at.dst + i) >> 2) = bytes_at(entry + i);
        } else {
            store_scalar(at.dst + i, SCALAR == 2 ? 16 : 8, bytes_at(entry + i));
        }
    }
}

// TILE elements, from the one at `at` on.
Word16 make_word(Offsets at, Offsets step)
{
    uint word[4] = uint[4](0, 0, 0, 0);
    [[unroll]] for (uint i = 0; i < TILE; i++) {
        uint entry = entry_of(at), to = i * ITEM;
        if (ITEM < 4) {
            word[to / 4] |= (bytes_at(entry) & (1u << ITEM % 4 * 8) - 1) << to % 4 * 8;
        } else {
            [[unroll]] for (uint k = 0; k < ITEM / 4; k++)
                word[(to / 4 + k) % 4] = entries[entry / 4 + k];
        }
        at = move(at, 1, step);
    }
#ifdef VECTORS
    return uvec4(word[0], word[1], word[2], word[3]);
#else
    return u64vec2(word_of(word[0], word[1]), word_of(word[2], word[3]));
#endif
}

// The elements [first, first + TILE) of a run, as far as there are such; `first` may be below 0.
void look_up(Offsets run, Offsets step, uint first)
{
    if (TILE > 1 && first < table.elements_extent && table.elements_extent - first >= TILE) {
        Offsets at = move(run, first, step);
        AT(dst16, 4, at.dst >> 4) = make_word(at, step);
        return;
    }
    uint i = first, end = first + TILE;
    [[loop]] do {
        if (i < table.elements_extent)
            store_element(move(run, i, step));
    } while (++i != end);
}

void main()
{
    Offsets step = axis_step(0);
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint part = divide(chunk.begin, table.rows, table.rows_multiplier);
        Offsets run = locate((chunk.begin - part * table.rows) * table.elements_extent).at;
        uint lead = TILE > 1 ? run.dst % 16 / ITEM : 0; // elements of the first word that are not the run's
        uint tiles = (lead + table.elements_extent + TILE - 1) / TILE;
        uint n = part * table.part, last = min(n + table.part, tiles);
        n += gl_LocalInvocationID.x;
        if (n < last) do {
            look_up(run, step, n * TILE - lead);
            n += GROUP_SIZE;
        } while (n < last);
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
}
