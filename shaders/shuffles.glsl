// Tiles of sums that a workgroup makes together: it is one subgroup, of DML_SUBGROUP invocations. A CPU driver loads for one
// invocation after the other, some 15 instructions each; handing a register on to other invocations is one for all of them.
//
// ACROSS: all of axis 0, whose weights each invocation has a group of. REST: taps behind the last whole group of four.
//
// ALONG: an index of axis 0 for each invocation, in each of ROWS rows. Their windows overlap, so the invocations load what all
// of these span, side by side. A *unit* is four inputs of CHANNELS words; weights begin with one, and have GROUPS of them.
// REGISTERS is how many of their units an invocation loads for a row; with ALIGN 8 these are pairs of neighbours.
layout(set = 0, binding = 3) readonly restrict buffer Weights16 { Word16 weights16[]; };

ivec4 weights_at(uint n)
{
    Word16 word = weights16[n];
    return ivec4(halves_of(FIRST(word)), halves_of(SECOND(word)));
}

// --- across ------------------------------------------------------------------------------------------------------------

const uint BEFORE = WORD > 4 ? WORD / 4 : 1; // words in front of a tile, into which its outputs may be moved
uint in_front[BEFORE];                       // those of the tiles made before

// Moves the outputs of tiles side by side so many bytes on, which are less than WORD.
void shift_across(uint bytes)
{
    const uint self = gl_SubgroupInvocationID, bits = bytes % 4 * 8;
    uint words[BEFORE + WORDS];
    [[unroll]] for (uint k = 0; k < BEFORE; k++) {
        uint last = made[WORDS - BEFORE + k], before = subgroupShuffle(last, (self - 1) % DML_SUBGROUP);
        words[k] = self == 0 ? in_front[k] : before;
        in_front[k] = subgroupShuffle(last, DML_SUBGROUP - 1);
    }
    [[unroll]] for (uint k = 0; k < WORDS; k++)
        words[BEFORE + k] = made[k];
    [[unroll]] for (uint n = BEFORE / 2; n > 0; n /= 2)
        [[unroll]] for (uint k = BEFORE + WORDS - 1; k >= n; k--)
            words[k] = (bytes & 4 * n) != 0 ? words[k - n] : words[k];
    [[unroll]] for (uint k = 0; k < WORDS; k++)
        made[k] = words[BEFORE + k] << bits | words[BEFORE + k - 1] >> 1 >> 31 - bits;
}

// EARLY: tiles begin where the source's do, and are stored where words begin.
void make_across(Offsets at, uint tile, uint extent)
{
    const uint last = (table.sums_taps + 3) / 4, groups = table.sums_taps / 4;
    ivec4 own = weights_at((at.entry >> 4) + min(gl_SubgroupInvocationID, last)); // the first has `first`
    int first = subgroupShuffle(own.x, 0);
    uint early = EARLY ? at.dst % max(WORD, 1) / ITEM : 0, block = 0;
    [[unroll]] for (uint k = 0; k < BEFORE; k++)
        in_front[k] = 0;
    [[loop]] do {
        uint begin = block + gl_SubgroupInvocationID * TILE, src = at.src + begin * SOURCE, g = 0;
        begin_across();
        if (groups > 0) [[loop]] do {
            [[unroll]] for (uint i = 0; i < 4; i++)
                add_across(input_of(src, first, 4 * g + i), subgroupShuffle(own[i], g + 1));
        } while (++g < groups);
        [[unroll]] for (uint i = 0; i < REST; i++)
            add_across(input_of(src, first, 4 * groups + i), subgroupShuffle(own[i], groups + 1));
        pack_across();
        if (EARLY)
            shift_across(early * ITEM);
        begin -= early;
        if (int(begin) < int(extent))
            store_across(at.dst, begin, extent);
        block += DML_SUBGROUP * TILE;
    } while (block < extent + early);
}

// --- along -------------------------------------------------------------------------------------------------------------

const bool PAIRED = ALIGN == 8;
const uint STEP = PAIRED ? 2 : 1; // units that an invocation loads side by side

uint windows[REGISTERS * CHANNELS];
int sums[OUTPUTS];

// Loads what the subgroup needs of a row from a unit on. Invocations whose units nobody needs load none.
void load_window(uint src, uint unit)
{
    [[unroll]] for (uint r = 0; r < REGISTERS; r += STEP) {
        uint own = DML_SUBGROUP * r + gl_SubgroupInvocationID * STEP;
        uint n = (unit + own) * CHANNELS + (src >> 2), words[2 * CHANNELS];
        [[unroll]] for (uint k = 0; k < 2 * CHANNELS; k++)
            words[k] = 0;
        if (own < table.sums_units) {
            if (PAIRED)
                [[unroll]] for (uint k = 0; k < 2 * CHANNELS; k += 2) {
                    uvec2 halves = halves_of(AT(src8, 3, min(n + k >> 1, table.src_last)));
                    words[k] = halves.x;
                    words[k + 1] = halves.y;
                }
            else
                [[unroll]] for (uint k = 0; k < CHANNELS + uint(ALIGN == 1); k++)
                    words[k] = word_at(n + k);
        }
        [[unroll]] for (uint k = 0; k < STEP * CHANNELS; k++)
            windows[r * CHANNELS + k] =
                ALIGN == 1 ? words[k] >> src % 4 * 8 | words[k + 1] << 1 << (31 - src % 4 * 8) : words[k];
    }
}

// Adds a unit, counted from the first of the window.
void add_unit(uint unit, ivec4 weights)
{
    uint owner = unit / STEP % DML_SUBGROUP, part = unit / (STEP * DML_SUBGROUP) * STEP + unit % STEP;
    [[unroll]] for (uint k = 0; k < CHANNELS; k++) {
        uint word = subgroupShuffle(windows[k], owner);
        [[unroll]] for (uint r = 1; r < REGISTERS; r++) {
            uint other = subgroupShuffle(windows[r * CHANNELS + k], owner);
            word = part == r ? other : word;
        }
        ADD_WORD(sums, 0, weights, k, word)
    }
}

uint output_bits(uint channel)
{
    return uint(output_of(sums[channel])) & ~0u >> 32 - ITEM * 8;
}

// Stores the outputs of `count` invocations; as words if these are all, and WORD says that outputs lie side by side.
void store_outputs(uint dst, uint count, uint stride)
{
    const uint self = gl_SubgroupInvocationID;
    if (WORD != 0 && PIXEL <= 4 && count >= DML_SUBGROUP) {
        uint pixel = 0, first = 4 * self / PIXEL, before = 4 * self % PIXEL * 8; // bits of the first pixel in words before
        [[unroll]] for (uint k = 0; k < OUTPUTS; k++)
            pixel |= output_bits(k) << k * ITEM * 8 % 32;
        uint word = subgroupShuffle(pixel, first % DML_SUBGROUP) >> before;
        [[unroll]] for (uint i = 1; i < (PIXEL == 3 ? 2 : 4 / PIXEL); i++)
            word |= subgroupShuffle(pixel, (first + i) % DML_SUBGROUP) << i * PIXEL * 8 - before;
        if (4 * self < DML_SUBGROUP * PIXEL)
            AT(dst4, 2, (dst >> 2) + self) = word;
    } else if (self < count) {
        [[unroll]] for (uint k = 0; k < OUTPUTS; k++)
            store_item(dst + self * stride + k * ITEM, output_bits(k));
    }
}

void make_along(Offsets at, uint begin, uint extent, Offsets stride, Offsets rows)
{
    begin = subgroupBroadcastFirst(begin);
    if (begin >= extent)
        return;
    Offsets own = move(at, min(begin + gl_SubgroupInvocationID, extent - 1), stride);
    uint entry = own.entry >> 4, unit = entries[own.entry >> 2] / 4, first = subgroupMin(unit) / STEP * STEP, row = 0;
    ivec4 weights[GROUPS];
    [[unroll]] for (uint g = 0; g < GROUPS; g++)
        weights[g] = weights_at(entry + 1 + g);
    [[loop]] do {
        load_window(at.src + row * rows.src, first);
        [[unroll]] for (uint k = 0; k < OUTPUTS; k++)
            sums[k] = int(table.sums_bias);
        [[unroll]] for (uint g = 0; g < GROUPS; g++)
            add_unit(unit - first + g, weights[g]);
        store_outputs(at.dst + row * rows.dst + begin * stride.dst, extent - begin, stride.dst);
    } while (++row < ROWS);
}
