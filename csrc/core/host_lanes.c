#include "core/host_lanes.h"

#include <stdlib.h>
#include <string.h>

/* --- taps --------------------------------------------------------------------------------------------------------- */

/* The taps of an output that are not zero, and what lies between them; at least one. */
typedef struct taps {
    const int32_t *weights; /* of the first */
    int64_t first, count;
} taps;

static taps taps_of(const dml_weights *weights, int64_t output)
{
    const int32_t *row = dml_weights_row(weights, output);
    int64_t begin = 0, end = weights->taps;
    while (end > 1 && row[end] == 0)
        end--;
    while (begin + 1 < end && row[1 + begin] == 0)
        begin++;
    return (taps){row + 1 + begin, row[0] + begin, end - begin};
}

static int32_t weight_of(const taps *taps, int64_t tap)
{
    return tap >= 0 && tap < taps->count ? taps->weights[tap] : 0;
}

/* The upper 8 bits of weights, times bytes, are added in 16 bits: those of one sign, rounded up for each of DML_LANE_CHUNK / 2
 * taps, are less than 128. */
enum { MOST_WEIGHT = 127 << 16, MOST_SUM = (127 - DML_LANE_CHUNK / 4) << 16 };

static bool fit(const taps *taps)
{
    int64_t sum = 0, magnitude = 0, most = 0;
    for (int64_t t = 0; t < taps->count; t++) {
        const int64_t weight = taps->weights[t], size = dml_magnitude(weight);
        sum += weight;
        magnitude += size;
        most |= size;
    }
    return most < MOST_WEIGHT && magnitude + dml_magnitude(sum) < 2 * (int64_t)MOST_SUM;
}

/* Of all outputs, by malloc, with room for two integers for each behind them; NULL without memory, or where weights are too
 * large. */
static taps *all_taps(const dml_weights *weights)
{
    taps *all = malloc((size_t)weights->outputs * (sizeof *all + 2 * sizeof(int32_t)));
    bool fits = all && weights->inside && !weights->is_float;
    for (int64_t i = 0; fits && i < weights->outputs; i++) {
        all[i] = taps_of(weights, i);
        fits = fit(&all[i]);
    }
    if (!fits) {
        free(all);
        all = NULL;
    }
    return all;
}

bool dml_lanes_fit(const dml_lines_pass *pass)
{
    return pass->summing.sum->kind == DML_SUM_CLIP && pass->from == 1 && pass->to == 1 && !pass->weights->is_float &&
           pass->weights->inside;
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

/* A lane of a block, before its weights are encoded. */
typedef struct lane {
    taps taps[DML_LANE / 4];     /* of its outputs; of outputs behind the last one: none */
    int64_t first[DML_LANE / 4]; /* the input of the first tap of a group, for each; not behind that of its taps */
    int64_t position;
} lane;

/* What a sum of a lane adds: of an output of the lane, 4 inputs from the tap of a group on, one item. */
typedef struct lane_sum {
    bool used;
    int64_t output, tap, item;
} lane_sum;

typedef struct layout {
    const taps *taps;        /* of all outputs, */
    int64_t outputs, inputs; /* of the axis */
    lane_sum sums[DML_LANE / 4];
    dml_lanes lanes;
} layout;

/* The lane's outputs, whose inputs begin as near to its position as `groups` loads allow. True if the groups have all taps. */
static bool place(const layout *layout, int64_t index, int64_t groups, lane *lane)
{
    const dml_lanes *lanes = &layout->lanes;
    const int64_t items = lanes->items, limit = layout->inputs * items - DML_LANE - (groups - 1) * lanes->step;
    int64_t position = dml_larger(limit, 0);
    bool all = true;
    for (int64_t i = 0; i < lanes->outputs; i++) {
        const int64_t output = index * lanes->outputs + i;
        lane->taps[i] = layout->taps[dml_smaller(output, layout->outputs - 1)];
        position = dml_smaller(position, lane->taps[i].first * items);
    }
    if (lanes->wide)
        position -= position % items;
    lane->position = position;
    const int64_t furthest = dml_quotient(lanes->wide ? position : position + DML_LANE - 4 * items, items);
    for (int64_t i = 0; i < lanes->outputs; i++) {
        lane->first[i] = dml_smaller(lane->taps[i].first, furthest);
        all = all && lane->taps[i].first + lane->taps[i].count <= lane->first[i] + groups * lanes->taps;
        if (index * lanes->outputs + i >= layout->outputs)
            lane->taps[i].count = 0;
    }
    return all;
}

/* As few groups as all lanes of a block need. */
static int64_t groups_of(const layout *layout, int64_t block)
{
    lane lane;
    int64_t groups = 1;
    for (int64_t k = 0; k < layout->lanes.lanes; k++) {
        const int64_t first = (block * layout->lanes.lanes + k) * layout->lanes.outputs;
        if (first < layout->outputs)
            groups = dml_larger(groups, dml_ceil_div(layout->taps[first].count, layout->lanes.taps));
        while (!place(layout, block * layout->lanes.lanes + k, groups, &lane))
            groups++;
    }
    return groups;
}

static void describe(layout *layout, bool wide)
{
    dml_lanes *lanes = &layout->lanes;
    const int64_t items = lanes->items;
    lanes->wide = wide;
    lanes->outputs = wide || items > 2 ? 1 : 4 / items;
    lanes->taps = wide ? DML_LANE / items : 4;
    lanes->step = lanes->taps * items;
    lanes->blocks = dml_ceil_div(layout->outputs, lanes->lanes * lanes->outputs);
    for (int64_t sum = 0; sum < DML_LANE / 4; sum++) {
        const int64_t pixel = sum / items, used = wide || pixel < lanes->outputs;
        layout->sums[sum] = (lane_sum){used, used && !wide ? pixel : 0, wide ? 4 * pixel : 0, sum % items};
    }
}

/* Those of all blocks; `groups` becomes those of each. */
static int64_t all_groups(const layout *layout, int32_t *groups)
{
    int64_t all = 0;
    for (int64_t block = 0; block < layout->lanes.blocks; block++) {
        groups[block] = (int32_t)groups_of(layout, block);
        all += groups[block];
    }
    return all;
}

static void write_control(const layout *layout, const lane *lane, uint8_t *control)
{
    const int64_t items = layout->lanes.items;
    for (int64_t sum = 0; sum < DML_LANE / 4; sum++) {
        const lane_sum *of = &layout->sums[sum];
        const int64_t at = of->used ? (lane->first[of->output] + of->tap) * items + of->item - lane->position : 0;
        for (int64_t tap = 0; tap < 4; tap++)
            control[4 * sum + tap] = of->used ? (uint8_t)(at + tap * items) : 0x80;
    }
}

static void write_weights(const layout *layout, const lane *lane, int64_t group, int32_t *weights)
{
    for (int64_t sum = 0; sum < DML_LANE / 4; sum++, weights += 4) {
        const lane_sum *of = &layout->sums[sum];
        const taps *taps = &lane->taps[of->output];
        const int64_t tap = group * layout->lanes.taps + of->tap - (taps->first - lane->first[of->output]);
        if (of->used && tap >= 0 && tap + 4 <= taps->count)
            memcpy(weights, taps->weights + tap, 4 * sizeof *weights);
        else
            for (int64_t k = 0; k < 4; k++)
                weights[k] = of->used ? weight_of(taps, tap + k) : 0;
    }
}

static void write_block(layout *layout, int64_t block, int64_t groups, int64_t encoded, dml_lanes_encoder *encode)
{
    dml_lanes *lanes = &layout->lanes;
    lane lane[DML_MOST_LANES];
    int32_t weights[DML_MOST_LANES * DML_LANE];
    const int64_t first = lanes->groups[block];
    lanes->groups[block + 1] = (int32_t)(first + groups);
    for (int64_t k = 0; k < lanes->lanes; k++) {
        const int64_t at = block * lanes->lanes + k;
        place(layout, at, groups, &lane[k]);
        lanes->positions[at] = (int32_t)lane[k].position;
        const int64_t end = lane[k].position + (groups - 1) * lanes->step + DML_LANE;
        lanes->overreads = lanes->overreads || end > layout->inputs * lanes->items;
        write_control(layout, &lane[k], lanes->controls + at * DML_LANE);
    }
    for (int64_t group = 0; group < groups; group++) {
        for (int64_t k = 0; k < lanes->lanes; k++)
            write_weights(layout, &lane[k], group, weights + k * DML_LANE);
        encode(weights, lanes->weights + (first + group) * encoded * lanes->lanes);
    }
}

static dml_lanes *make(layout *layout, const int32_t *groups, int64_t all, int64_t encoded, dml_lanes_encoder *encode)
{
    const int64_t blocks = layout->lanes.blocks, lanes = blocks * layout->lanes.lanes, align = 64;
    const int64_t weights = all * encoded * layout->lanes.lanes;
    dml_lanes *made = malloc(sizeof *made + (size_t)(weights + lanes * (DML_LANE + 4) + (blocks + 1) * 4 + align));
    if (!made)
        return NULL;
    layout->lanes.weights = made->memory + (-(uintptr_t)made->memory % (uintptr_t)align);
    layout->lanes.controls = (uint8_t *)layout->lanes.weights + weights;
    layout->lanes.positions = (int32_t *)(void *)(layout->lanes.controls + lanes * DML_LANE);
    layout->lanes.groups = layout->lanes.positions + lanes;
    layout->lanes.groups[0] = 0;
    for (int64_t block = 0; block < blocks; block++)
        write_block(layout, block, groups[block], encoded, encode);
    *made = layout->lanes;
    return made;
}

dml_lanes *dml_lanes_make(const dml_weights *weights, int64_t items, int64_t lanes, int64_t encoded, dml_lanes_encoder *encode)
{
    taps *taps = all_taps(weights);
    layout layout = {
        .taps = taps, .outputs = weights->outputs, .inputs = weights->inputs, .lanes = {.lanes = lanes, .items = items}};
    if (!taps)
        return NULL;
    int32_t *groups = (int32_t *)(void *)(taps + weights->outputs);
    describe(&layout, false);
    int64_t all = all_groups(&layout, groups);
    if (items < 3) {
        describe(&layout, true);
        const int64_t others = all_groups(&layout, groups + weights->outputs);
        if (others < all)
            groups += weights->outputs;
        else
            describe(&layout, false);
        all = dml_smaller(all, others);
    }
    dml_lanes *made = make(&layout, groups, all, encoded, encode);
    free(taps);
    return made;
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

dml_row_taps *dml_row_taps_make(const dml_weights *weights, int64_t each, int64_t words, dml_row_encoder *encode)
{
    const int64_t outputs = weights->outputs;
    taps *taps = all_taps(weights);
    int64_t all = 0;
    for (int64_t i = 0; taps && i < outputs; i++)
        all += dml_ceil_div(taps[i].count, each) * words;
    dml_row_taps *made = taps ? malloc(sizeof *made + (size_t)(3 * outputs + 1 + all) * 4) : NULL;
    if (!made) {
        free(taps);
        return NULL;
    }
    made->first = (int32_t *)(void *)made->memory;
    made->count = made->first + outputs;
    made->at = made->count + outputs;
    made->weights = (uint32_t *)(void *)(made->at + outputs + 1);
    made->at[0] = 0;
    for (int64_t i = 0; i < outputs; i++) {
        uint32_t *to = made->weights + made->at[i];
        for (int64_t t = 0; t < taps[i].count; t += each, to += words) {
            int32_t group[4];
            for (int64_t k = 0; k < each; k++)
                group[k] = weight_of(&taps[i], t + k);
            encode(group, to);
        }
        made->first[i] = (int32_t)taps[i].first;
        made->count[i] = (int32_t)taps[i].count;
        made->at[i + 1] = (int32_t)(to - made->weights);
    }
    free(taps);
    return made;
}

const char *const *dml_row_lines(const dml_row_taps *taps, const dml_sum_inputs *in, int64_t output, int64_t each,
                                 const char *lines[DML_MOST_ROW_TAPS + 4])
{
    const int64_t first = taps->first[output], count = taps->count[output], padded = dml_ceil_div(count, each) * each;
    if (count > DML_MOST_ROW_TAPS)
        return NULL;
    for (int64_t t = 0; t < padded; t++)
        lines[t] = in->base + ((first + dml_smaller(t, count - 1)) & in->mask) * in->stride;
    return lines;
}

bool dml_lanes_choose(dml_lines_pass *pass, const dml_lines_kernel *kernel, const void *packed)
{
    if (!packed)
        return false;
    pass->kernel = kernel;
    pass->packed = packed;
    return true;
}
