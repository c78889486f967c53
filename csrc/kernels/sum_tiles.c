#include "kernels/sum_tiles.h"

#include <string.h>

#include "abi.h"

enum {
    LOAD = 16,         /* bytes of a tap of a tile */
    MOST_OUTPUTS = 4,  /* of an index along the summed axis, */
    MOST_CHANNELS = 8, /* and source bytes from it to the next */
    MOST_DIVISOR = 65536,
    FEWEST = 5,      /* neighbours that are worth a tile */
    MOST_GROUPS = 8, /* of taps along a row that a subgroup adds, which are unrolled */
    MOST_REGISTERS = 4,
    FEW_UNITS = 4 /* that are loaded one by one sooner than in pairs */
};

_Static_assert(DML_SUM_CLIP == DML_SUMS_CLIP && DML_SUM_REDUCE == DML_SUMS_REDUCE && DML_SUM_CUBIC == DML_SUMS_CUBIC,
               "kernels count kinds as plans do");
_Static_assert(DML_UINT8 == DML_SUMS_UINT8 && DML_FLOAT32 == DML_SUMS_FLOAT32, "and numbers");

bool dml_sum_has_floats(const dml_sum *sum)
{
    return sum->kind == DML_SUM_FLOAT || sum->kind == DML_SUM_ROUND || sum->kind == DML_SUM_CUBIC || sum->kind == DML_SUM_TIMES;
}

bool dml_sum_is_exact(const dml_sum *sum)
{
    return sum->kind != DML_SUM_OVER || sum->factor < (float)MOST_DIVISOR;
}

/* Whether a product may be moved to another tap. */
static bool adds_products(const dml_sum *sum)
{
    return sum->kind == DML_SUM_CLIP || sum->kind == DML_SUM_SHIFT || sum->kind == DML_SUM_TIMES || sum->kind == DML_SUM_OVER ||
           sum->kind == DML_SUM_REDUCE;
}

/* Whether no tap reads beyond the inputs, where the host sees the weights. */
static bool is_inside(const dml_plan *plan)
{
    const dml_span span = dml_plan_entry_span(plan);
    int32_t first;
    for (int64_t at = span.begin; plan->entries.data && at < span.end; at += plan->entries.item) {
        memcpy(&first, (const char *)plan->entries.data + at, sizeof first);
        if (first < plan->taps.begin || first + plan->taps.count > plan->taps.begin + plan->taps.inputs)
            return false;
    }
    return true;
}

/* --- tiles -------------------------------------------------------------------------------------------------------- */

/* Offsets and strides in one, but for those of the run: its low bits are 0 where theirs all are. */
static uint64_t places(const dml_sum_tiles *tiles, uint64_t offset, dml_side side)
{
    const dml_plan *plan = &tiles->plan;
    for (int k = 0; k < plan->rank; k++)
        if (k != tiles->run)
            offset |= (uint64_t)(side == DML_SRC ? plan->axes[k].src_stride : plan->axes[k].dst_stride);
    return offset;
}

/* The axis of a pixel's channels, -1 if there is none. */
static int find_channels(const dml_plan *plan)
{
    for (int k = 0; k < plan->rank; k++) {
        const dml_axis *axis = &plan->axes[k];
        if (axis->entry_stride == 0 && dml_magnitude(axis->src_stride) == 1 && axis->dst_stride == plan->item &&
            axis->extent <= dml_magnitude(plan->taps.stride) && axis->extent <= MOST_OUTPUTS)
            return k;
    }
    return -1;
}

/* The only axis along which weights advance. */
static int find_summed(const dml_plan *plan)
{
    int found = -1;
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].entry_stride != 0) {
            if (found >= 0)
                return -1;
            found = k;
        }
    return found;
}

/* The axis whose neighbours are next to each other in the source, of those that have so many and the same weights. */
static int find_side(const dml_plan *plan, int32_t rows)
{
    int side = -1;
    for (int k = 0; k < plan->rank; k++)
        if (plan->axes[k].entry_stride == 0 && plan->axes[k].extent >= rows &&
            (side < 0 || dml_magnitude(plan->axes[k].src_stride) < dml_magnitude(plan->axes[side].src_stride)))
            side = k;
    return side;
}

/* Whether the summed axis may be made along, and then in which order its inputs are. */
static bool may_be_along(const dml_plan *plan, bool *mirrored)
{
    const int64_t channels = dml_magnitude(plan->taps.stride);
    *mirrored = plan->taps.stride < 0;
    return plan->taps.number == DML_UINT8 && channels > 0 && channels <= MOST_CHANNELS && plan->sum.kind != DML_SUM_FLOORS &&
           plan->sum.kind != DML_SUM_CUBIC && (adds_products(&plan->sum) || (!*mirrored && is_inside(plan)));
}

static bool find_along(dml_sum_tiles *tiles, uint32_t src, uint32_t dst, int32_t rows)
{
    dml_plan *plan = &tiles->plan;
    bool mirrored;
    const int channels = find_channels(plan), summed = find_summed(plan);
    const dml_axis pixel = channels < 0 ? (dml_axis){.extent = 1} : plan->axes[channels];
    const int64_t bytes = pixel.extent * plan->item;
    if (summed < 0 || !may_be_along(plan, &mirrored) || (!tiles->shuffled && plan->axes[summed].dst_stride != bytes))
        return false;
    if (channels >= 0)
        dml_plan_remove_axis(plan, channels);
    tiles->way = DML_SUMS_ALONG;
    tiles->run = find_summed(plan);
    tiles->side = find_side(plan, rows);
    tiles->rows = tiles->side < 0 ? 1 : rows;
    tiles->channels = (int32_t)dml_magnitude(plan->taps.stride);
    tiles->outputs = (int32_t)pixel.extent;
    tiles->flipped = pixel.src_stride < 0;
    tiles->src_offset = (mirrored ? (plan->taps.inputs - 1) * plan->taps.stride : 0) - (tiles->flipped ? pixel.extent - 1 : 0);
    tiles->tile = (int32_t)(4 / dml_divisor((uint64_t)bytes, 4));
    tiles->align = tiles->channels % 4 == 0 && places(tiles, src + (uint64_t)tiles->src_offset, DML_SRC) % 4 == 0 ? 4 : 1;
    tiles->word = plan->axes[tiles->run].dst_stride == bytes && places(tiles, dst, DML_DST) % 4 == 0 ? 4 : 0;
    tiles->weights.whole = true;
    tiles->weights.mirrored = mirrored;
    return true;
}

static bool find_across(dml_sum_tiles *tiles, uint32_t src, uint32_t dst)
{
    const dml_plan *plan = &tiles->plan;
    const int64_t item = plan->item;
    for (int k = 0; k < plan->rank; k++) {
        const dml_axis *axis = &plan->axes[k];
        if (axis->entry_stride == 0 && axis->src_stride == plan->src_item && axis->dst_stride == item && axis->extent >= FEWEST)
            tiles->run = k;
    }
    if (tiles->run < 0)
        return false;
    tiles->way = DML_SUMS_ACROSS;
    tiles->tile = (int32_t)(LOAD / plan->src_item);
    const uint64_t to = places(tiles, dst, DML_DST), from = places(tiles, src | (uint64_t)plan->taps.stride, DML_SRC);
    tiles->word = tiles->tile * item % 16 == 0 ? 16 : 4;
    if (to % 16 != 0 && to % 4 == 0)
        tiles->word = 4;
    tiles->early = to % 4 != 0;
    tiles->align = (int32_t)dml_divisor(from, 16);
    if (tiles->early && !tiles->shuffled)
        tiles->align = plan->src_item == 4 ? 4 : 1;
    else if (tiles->align < 16)
        tiles->align = tiles->align < 4 ? 1 : 4;
    return true;
}

static void begin_tiles(const dml_plan *plan, dml_sum_tiles *tiles)
{
    *tiles = (dml_sum_tiles){.way = DML_SUMS_SINGLY,
                             .run = -1,
                             .side = -1,
                             .tile = 1,
                             .channels = 1,
                             .outputs = 1,
                             .rows = 1,
                             .align = 1,
                             .registers = 1};
    tiles->weights = (dml_sum_weights){.groups = (int32_t)dml_ceil_div(plan->taps.count, 4)};
    dml_plan_copy(&tiles->plan, plan);
}

/* Entry strides of packed weights. */
static void pack_entries(dml_sum_tiles *tiles)
{
    for (int k = 0; k < tiles->plan.rank; k++)
        tiles->plan.axes[k].entry_stride =
            tiles->plan.axes[k].entry_stride / tiles->plan.entries.item * dml_sum_weights_row(&tiles->weights);
}

void dml_sum_tiles_find(const dml_plan *plan, uint32_t src, uint32_t dst, int32_t rows, dml_sum_tiles *tiles)
{
    begin_tiles(plan, tiles);
    if (rows > 0 && !find_along(tiles, src, dst, rows))
        find_across(tiles, src, dst);
    pack_entries(tiles);
}

/* --- tiles of a subgroup -------------------------------------------------------------------------------------------- */

/* What neighbours that a subgroup makes read, in units of four inputs. */
typedef struct window {
    int64_t groups;   /* units that have the weights of one */
    int64_t units[2]; /* of all: from the first on, from an even one on */
} window;

/* The units that any row of the entries has weights of, those included that lie between the run's. */
static int64_t most_groups(const dml_plan *plan, bool mirrored)
{
    const dml_span span = dml_plan_entry_span(plan);
    int64_t groups = 1;
    for (int64_t at = span.begin; at < span.end; at += plan->entries.item) {
        const dml_span inputs = dml_sum_weights_inputs(plan, (const char *)plan->entries.data + at, mirrored);
        groups = dml_larger(groups, dml_ceil_div(inputs.end, 4) - inputs.begin / 4);
    }
    return groups;
}

static window find_window(const dml_plan *plan, const dml_axis *run, bool mirrored)
{
    const int64_t groups = most_groups(plan, mirrored);
    const char *row = (const char *)plan->entries.data + plan->entries.offset;
    int64_t apart[2] = {0, 0}, least = 0, most = 0;
    for (int64_t i = 0; i < run->extent; i++, row += run->entry_stride) {
        const int64_t unit = dml_sum_weights_inputs(plan, row, mirrored).begin / 4;
        least = i % DML_SUBGROUP == 0 ? unit : dml_smaller(least, unit);
        most = i % DML_SUBGROUP == 0 ? unit : dml_larger(most, unit);
        apart[0] = dml_larger(apart[0], most - least);
        apart[1] = dml_larger(apart[1], most - least / 2 * 2);
    }
    return (window){groups, {apart[0] + groups, apart[1] + groups}};
}

static bool shuffle_along(dml_sum_tiles *tiles, uint32_t src)
{
    const window window = find_window(&tiles->plan, &tiles->plan.axes[tiles->run], tiles->weights.mirrored);
    const uint64_t from = places(tiles, src + (uint64_t)tiles->src_offset, DML_SRC);
    const bool paired = from % 8 == 0 && window.units[0] > FEW_UNITS;
    const int64_t step = paired ? 2 : 1, units = window.units[paired];
    tiles->units = (int32_t)units;
    tiles->registers = (int32_t)(dml_ceil_div(units, DML_SUBGROUP * step) * step);
    const int32_t unpaired = from % 4 == 0 ? 4 : 1;
    tiles->align = paired ? 8 : unpaired;
    tiles->tile = 1;
    tiles->weights.groups = (int32_t)window.groups;
    tiles->weights.units = true;
    return tiles->side >= 0 && window.groups <= MOST_GROUPS && tiles->registers <= MOST_REGISTERS;
}

bool dml_sum_tiles_shuffle(const dml_plan *plan, uint32_t src, uint32_t dst, int32_t rows, dml_sum_tiles *tiles)
{
    begin_tiles(plan, tiles);
    tiles->shuffled = true;
    if (!plan->entries.data || dml_sum_has_floats(&plan->sum))
        return false;
    const bool along = find_along(tiles, src, dst, rows);
    const bool found = along ? shuffle_along(tiles, src) : find_across(tiles, src, dst) && tiles->weights.groups < DML_SUBGROUP;
    pack_entries(tiles);
    return found;
}
