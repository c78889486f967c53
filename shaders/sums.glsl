// A plan with a sum: each output is a sum of inputs, by weights that are entries: `first`, three words of no use, and the
// weights of whole groups of four taps, of which those beyond `sums_taps` are 0.
//
// SINGLY: an invocation makes one output, of any plan.
//
// ACROSS: TILE outputs along axis 0, which begin at a multiple of WORD bytes if EARLY. They have the same weights, and each of
// their taps is 16 bytes of the source.
//
// ALONG: TILE indices along axis 0, which is summed, of OUTPUTS outputs each, for each of ROWS indices along axis 1, where
// the weights are the same. CHANNELS bytes lie between neighbours, so that the inputs of a group of four taps are as many
// words, once they are shifted; those of taps without weight may be anything. Of these channels, outputs are made of the first
// ones, FLIPPED in reversed order. Weights are such that no input needs to be clamped.
//
// SHUFFLES: a subgroup makes tiles together, as shuffles.glsl says.
//
// Integers wrap around. No float operation is fused with another.
#include "plan.glsl"

layout(constant_id = DML_SUMS_KIND) const uint KIND = DML_SUMS_CLIP;
layout(constant_id = DML_SUMS_NUMBER) const uint NUMBER = DML_SUMS_UINT8;
layout(constant_id = DML_SUMS_ITEM) const uint ITEM = 1;
layout(constant_id = DML_SUMS_WAY) const uint WAY = DML_SUMS_SINGLY;
layout(constant_id = DML_SUMS_TILE) const uint TILE = 4;
layout(constant_id = DML_SUMS_CHANNELS) const uint CHANNELS = 1;
layout(constant_id = DML_SUMS_OUTPUTS) const uint OUTPUTS = 1;
layout(constant_id = DML_SUMS_FLIPPED) const bool FLIPPED = false;
layout(constant_id = DML_SUMS_ROWS) const uint ROWS = 1;
layout(constant_id = DML_SUMS_ALIGN) const uint ALIGN = 1;
layout(constant_id = DML_SUMS_WORD) const uint WORD = 0;
layout(constant_id = DML_SUMS_EARLY) const bool EARLY = false;
layout(constant_id = DML_SUMS_GROUPS) const uint GROUPS = 1;
layout(constant_id = DML_SUMS_REGISTERS) const uint REGISTERS = 1;
layout(constant_id = DML_SUMS_REST) const uint REST = 0;

const uint SOURCE = NUMBER == DML_SUMS_UINT8 ? 1 : NUMBER == DML_SUMS_UINT16 ? 2 : 4; // bytes of an input
const uint PIXEL = OUTPUTS * ITEM;                                                      // bytes of outputs side by side
const uint WORDS = (TILE * PIXEL + 3) / 4;                                              // of 4 bytes, that a tile has in a row

// --- sums ------------------------------------------------------------------------------------------------------------

// A sum of floats has their bits.
int add(int sum, int weight, int number)
{
#ifdef FLOATS
    if (KIND == DML_SUMS_FLOAT || KIND == DML_SUMS_ROUND || KIND == DML_SUMS_CUBIC) {
        precise float factor = KIND == DML_SUMS_CUBIC ? float(weight) : intBitsToFloat(weight);
        precise float value = NUMBER == DML_SUMS_FLOAT32 ? intBitsToFloat(number) : float(number);
        precise float product = factor * value;
        precise float result = intBitsToFloat(sum) + product;
        return floatBitsToInt(result);
    }
#endif
    int product = weight * number;
    return sum + (KIND == DML_SUMS_FLOORS ? product >> table.sums_shift : product);
}

#ifdef FLOATS
int to_byte(float value)
{
    return int(clamp(roundEven(value), 0.0, 255.0));
}
#endif

// A quotient from 0 to 255, of less than 2**16, rounded to nearest even. As float32 it is no nearer to the middle between two
// integers than as a fraction.
int divided(uint n, uint by)
{
    uint quotient = n / by, rest = n - quotient * by;
    return int(quotient + uint(2 * rest > by || (2 * rest == by && quotient % 2 == 1)));
}

int output_of(int sum)
{
    if (KIND == DML_SUMS_CLIP)
        return clamp(sum >> table.sums_shift, 0, 255);
    if (KIND == DML_SUMS_SHIFT)
        return sum >> table.sums_shift;
    if (KIND == DML_SUMS_FLOORS)
        return sum >> 2;
    if (KIND == DML_SUMS_OVER)
        return divided(uint(sum), table.sums_multiplier);
    if (KIND == DML_SUMS_REDUCE)
        return int(uint(sum) * table.sums_multiplier >> 24);
#ifdef FLOATS
    precise float scaled = KIND == DML_SUMS_TIMES ? float(sum) : intBitsToFloat(sum);
    if (KIND == DML_SUMS_TIMES || KIND == DML_SUMS_CUBIC)
        scaled = scaled * uintBitsToFloat(table.sums_multiplier);
    if (KIND != DML_SUMS_FLOAT)
        return to_byte(scaled);
#endif
    return sum;
}

// --- loads -----------------------------------------------------------------------------------------------------------

// Words beyond what is bound have no bytes of use.
uint word_at(uint n)
{
    return AT(src4, 2, min(n, 2 * table.src_last + 1));
}

// 16 bytes from src on, which may be up to 15 below 0: words there have no bytes of use either.
uvec4 words_at(uint src)
{
    if (ALIGN == 16) {
        Word16 word = AT(src16, 4, min(src >> 4, table.src_last >> 1));
        return uvec4(halves_of(FIRST(word)), halves_of(SECOND(word)));
    }
    uint n = (src + 16 >> 2) - 4;
    uvec4 words = uvec4(word_at(n), word_at(n + 1), word_at(n + 2), word_at(n + 3));
    if (ALIGN > 1)
        return words;
    uint shift = src % 4 * 8;
    return words >> shift | uvec4(words.yzw, word_at(n + 4)) << 1 << (31 - shift);
}

// The i-th input of 16 bytes; i is a constant.
int number_in(uvec4 words, uint i)
{
    uint word = words[i * SOURCE / 4 % 4] >> i * SOURCE % 4 * 8;
    return int(SOURCE == 4 ? word : word & (1u << SOURCE % 4 * 8) - 1);
}

int number_at(uint src)
{
    return number_in(uvec4(AT(src4, 2, src >> 2) >> src % 4 * 8), 0);
}

// Where the input of a tap is.
uint input_of(uint src, int first, uint tap)
{
    return src + uint(clamp(first + int(tap), 0, int(table.sums_last))) * table.sums_stride;
}

// --- stores ----------------------------------------------------------------------------------------------------------

void store_item(uint dst, uint bits)
{
    if (ITEM == 4)
        AT(dst4, 2, dst >> 2) = bits;
    else
        store_scalar(dst, ITEM * 8, bits);
}

uint made[ROWS * WORDS]; // by an invocation

// Appends the lowest bits of `value` to those of a row; after all of them, the first ones are the lowest.
void append(uint row, uint bits, uint value)
{
    if (bits == 32) {
        [[unroll]] for (uint k = 0; k + 1 < WORDS; k++)
            made[row * WORDS + k] = made[row * WORDS + k + 1];
        made[row * WORDS + WORDS - 1] = value;
        return;
    }
    [[unroll]] for (uint k = 0; k < WORDS; k++) {
        uint next = k + 1 < WORDS ? made[row * WORDS + min(k + 1, WORDS - 1)] : value;
        made[row * WORDS + k] = made[row * WORDS + k] >> bits | next << 32 - bits;
    }
}

// Stores what a row has, `dst` being where its first item belongs: all as words, or the items [begin, end).
void store_row(uint row, uint dst, uint begin, uint end)
{
    const uint items = WORDS * 4 / ITEM;
    if (WORD == 16 && begin == 0 && end == items) {
        [[unroll]] for (uint k = 0; k < WORDS; k += 4) {
            uint at = row * WORDS + k;
            AT(dst16, 4, (dst >> 4) + k / 4) =
                Word16(word_from(uvec2(made[at], made[at + 1])), word_from(uvec2(made[at + 2], made[at + 3])));
        }
        return;
    }
    if (WORD == 4 && begin == 0 && end == items) {
        [[unroll]] for (uint k = 0; k < WORDS; k++)
            AT(dst4, 2, (dst >> 2) + k) = made[row * WORDS + k];
        return;
    }
    uint i = 0;
    [[loop]] do {
        if (i >= begin && i < end)
            store_item(dst + i * ITEM, made[row * WORDS]);
        append(row, ITEM * 8, 0);
    } while (++i < items);
}

// --- tiles -----------------------------------------------------------------------------------------------------------

void make_one(Offsets at)
{
    int first = int(entries[at.entry >> 2]), sum = int(table.sums_bias);
    uint n = 0;
    [[loop]] do {
        uint tap = KIND == DML_SUMS_CUBIC ? table.sums_taps - 1 - n : n;
        sum = add(sum, int(entries[(at.entry >> 2) + 4 + tap]), number_at(input_of(at.src, first, tap)));
    } while (++n < table.sums_taps);
    store_item(at.dst, uint(output_of(sum)));
}

// Adds the i-th word of a group of four taps to the sums of an index.
#define ADD_WORD(sums, begin, weights, k, word)                                                                                \
    [[unroll]] for (uint i = 0; i < 4; i++) {                                                                                  \
        uint at = 4 * k + i, channel = at % CHANNELS, to = begin + (FLIPPED ? OUTPUTS - 1 - channel : channel);                \
        if (channel < OUTPUTS)                                                                                                 \
            sums[to] = add(sums[to], weights[at / CHANNELS], int(word >> 8 * i & 255u));                                       \
    }

int across[TILE];

void begin_across()
{
    [[unroll]] for (uint i = 0; i < TILE; i++)
        across[i] = int(table.sums_bias);
}

void add_across(uint src, int weight)
{
    uvec4 words = words_at(src);
    [[unroll]] for (uint i = 0; i < TILE; i++)
        across[i] = add(across[i], weight, number_in(words, i));
}

void pack_across()
{
    [[unroll]] for (uint k = 0; k < WORDS; k++) {
        made[k] = 0;
        [[unroll]] for (uint i = 0; i < 4 / ITEM; i++)
            made[k] |= (uint(output_of(across[k * 4 / ITEM + i])) & ~0u >> 32 - ITEM * 8) << i * ITEM * 8 % 32;
    }
}

// Stores a tile from element `begin` of a run on, which may be one below 0.
void store_across(uint dst, uint begin, uint extent)
{
    bool early = EARLY && int(begin) < 0;
    store_row(0, dst + begin * ITEM, early ? -begin : 0, min(TILE, extent - begin));
}

#ifdef SHUFFLES
#include "shuffles.glsl"
#else

void make_across(Offsets at, uint tile, uint extent)
{
    uint begin = tile * TILE - (EARLY ? at.dst % max(WORD, 1) / ITEM : 0), n = 0;
    if (int(begin) >= int(extent))
        return;
    int first = int(entries[at.entry >> 2]);
    begin_across();
    [[loop]] do {
        uint tap = KIND == DML_SUMS_CUBIC ? table.sums_taps - 1 - n : n;
        uint src = at.src + begin * SOURCE;
        add_across(input_of(src, first, tap), int(entries[(at.entry >> 2) + 4 + tap]));
    } while (++n < table.sums_taps);
    pack_across();
    store_across(at.dst, begin, extent);
}

int sums[ROWS * OUTPUTS]; // of one index of each row

void sum_along(Offsets at, Offsets rows)
{
    uint from[ROWS], carried[ROWS], entry = at.entry >> 4, groups = (table.sums_taps + 3) / 4;
    uint first = at.src + entries[at.entry >> 2] * CHANNELS;
    [[unroll]] for (uint row = 0; row < ROWS; row++) {
        from[row] = first + row * rows.src;
        if (ALIGN == 1)
            carried[row] = word_at(from[row] >> 2);
    }
    [[unroll]] for (uint i = 0; i < ROWS * OUTPUTS; i++)
        sums[i] = int(table.sums_bias);
    uint g = 0;
    [[loop]] do {
        ivec4 weights = ivec4(entries16[++entry]);
        [[unroll]] for (uint row = 0; row < ROWS; row++) {
            uint shift = from[row] % 4 * 8;
            [[unroll]] for (uint k = 0; k < CHANNELS; k++) {
                uint n = (from[row] >> 2) + g * CHANNELS + k, word;
                if (ALIGN == 1) {
                    uint next = word_at(n + 1);
                    word = carried[row] >> shift | next << 1 << (31 - shift);
                    carried[row] = next;
                } else {
                    word = word_at(n);
                }
                ADD_WORD(sums, row * OUTPUTS, weights, k, word)
            }
        }
    } while (++g < groups);
}

void append_along(uint row)
{
    if (PIXEL < 4) {
        uint pixel = 0;
        [[unroll]] for (uint k = 0; k < OUTPUTS; k++)
            pixel |= (uint(output_of(sums[row * OUTPUTS + k])) & ~0u >> 32 - ITEM * 8) << k * ITEM * 8 % 32;
        append(row, PIXEL * 8, pixel);
        return;
    }
    [[unroll]] for (uint k = 0; k < OUTPUTS; k++)
        append(row, ITEM * 8, uint(output_of(sums[row * OUTPUTS + k])) & ~0u >> 32 - ITEM * 8);
}

void make_along(Offsets at, uint begin, uint extent, Offsets stride, Offsets rows)
{
    uint i = 0;
    [[loop]] do {
        sum_along(move(at, min(begin + i, extent - 1), stride), rows);
        [[unroll]] for (uint row = 0; row < ROWS; row++)
            append_along(row);
    } while (++i < TILE);
    uint end = min(TILE, extent - begin) * OUTPUTS;
    [[unroll]] for (uint row = 0; row < ROWS; row++)
        store_row(row, at.dst + begin * PIXEL + row * rows.dst, 0, end);
}

#endif

void make_tile(uint n, Offsets stride, Offsets rows)
{
    uint outer = divide(n, table.tiles, table.tiles_multiplier), tile = n - outer * table.tiles, extent = axis_at(0).extent;
    Offsets at = locate(outer * table.tiled_elements).at;
    if (WAY == DML_SUMS_SINGLY) {
        make_one(at);
    } else if (WAY == DML_SUMS_ACROSS) {
        make_across(at, tile, extent);
    } else {
        uint row = divide(tile, table.sums_across, table.sums_across_multiplier);
        uint begin = (tile - row * table.sums_across) * TILE;
        row = min(row * ROWS, axis_at(1).extent - ROWS); // the last tiles overlap others
        make_along(move(at, row, rows), begin, extent, stride, rows);
    }
}

void main()
{
    Offsets stride = axis_strides(0), rows = axis_strides(1);
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint n = chunk.begin * table.strip, end = min(n + table.strip, table.tiles_count);
        n += gl_LocalInvocationID.x;
        if (n < end) do {
            make_tile(n, stride, rows);
            n += GROUP_SIZE;
        } while (n < end);
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
}
