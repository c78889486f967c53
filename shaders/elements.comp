// Any plan: an invocation moves one scalar at a time. The table's innermost axis is the row that a workgroup moves along; its
// position is looked up once.
//
// WORDS: of gathered scalars, an invocation moves some that are neighbours in the destination, as one word, and loads their
// entries by 16 bytes. A CPU driver takes as long for either as for one scalar.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

layout(constant_id = DML_ELEMENTS_WORDS) const bool WORDS = false;

const uint PACK = SCALAR == 8 ? 2 : 4; // scalars of a word

void copy_element(Offsets at)
{
    if (ENTRIES_WAY == DML_ENTRIES_ADVANCE)
        follow_entries(at);
    if (ENTRIES_WAY == DML_ENTRIES_CUT && GATHERED > 0) {
        if (!gather(at))
            return;
    } else if (ENTRIES_WAY == DML_ENTRIES_CUT) {
        uvec2 length = length_at(at.entry), i = sum(table.cut_begin, uvec2(at.reversed, 0));
        uvec2 from = is_less(i, length) ? difference(length, sum(i, uvec2(1, 0))) : i;
        if (is_less(from, table.source_begin) || !is_less(from, table.source_end))
            return;
        at.src += difference(from, table.source_begin).x * table.reversed_stride;
    }
    copy_scalar(at.src, at.dst);
}

// The n-th of PACK entries, 16 bytes of which are loaded at a time.
uvec2 entry_of(uvec4 four, uint n)
{
    if (ENTRY_BYTES == 8)
        return n % 2 == 0 ? four.xy : four.zw;
    return uvec2(four[n], ENTRY_SIGNED ? uint(int(four[n]) >> 31) : 0);
}

// From an element on whose place in the destination is a multiple of a word's bytes.
void copy_word(Offsets at, uint src_stride)
{
    const uint per_load = 16 / ENTRY_BYTES;
    uint extent = table.axes[table.gathers].first.x, stride = table.axes[table.gathers].gathered_stride;
    uvec4 word = uvec4(0), four;
    [[unroll]] for (uint i = 0; i < PACK; i++) {
        if (i % per_load == 0)
            four = entries16[(at.entry >> 4) + i / per_load];
        uint src = at.src + i * src_stride + near_index(entry_of(four, i), extent) * stride;
        if (SCALAR == 8) {
            uvec2 halves = halves_of(AT(src8, 3, src >> 3));
            word[2 * i % 4] = halves.x;
            word[(2 * i + 1) % 4] = halves.y;
        } else {
            uint bits = AT(src4, 2, src >> 2);
            if (SCALAR < 4)
                bits = bits >> src % 4 * 8 & (1u << SCALAR * 8 % 32) - 1;
            word[i * SCALAR / 4] |= bits << i * SCALAR % 4 * 8;
        }
    }
    if (SCALAR == 1)
        AT(dst4, 2, at.dst >> 2) = word.x;
    else if (SCALAR == 2)
        AT(dst8, 3, at.dst >> 3) = word_from(word.xy);
    else
        AT(dst16, 4, at.dst >> 4) = Word16(word_from(word.xy), word_from(word.zw));
}

// The elements [begin, end) of a row: scalars up to the first word, words, and what is behind them.
void copy_row(Offsets row, Offsets strides, uint begin, uint end)
{
    uint head = end - begin, words = 0;
    if (WORDS) {
        head = min(-((row.dst + begin * SCALAR) / SCALAR) % PACK, head);
        words = (end - begin - head) / PACK;
        uint n = gl_LocalInvocationID.x;
        if (n < words) do {
            copy_word(move(row, begin + head + n * PACK, strides), strides.src);
            n += GROUP_SIZE;
        } while (n < words);
    }
    uint ends = end - begin - words * PACK, i = gl_LocalInvocationID.x;
    if (i < ends) do {
        copy_element(move(row, begin + i + (i < head ? 0 : words * PACK), strides));
        i += GROUP_SIZE;
    } while (i < ends);
}

void main()
{
    Offsets strides = axis_strides(0);
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint strip = divide(chunk.begin, table.rows, table.rows_multiplier);
        Offsets row = locate((chunk.begin - strip * table.rows) * table.elements_extent).at;
        uint begin = strip * table.strip;
        copy_row(row, strides, begin, begin + min(table.strip, table.elements_extent - begin));
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
}
