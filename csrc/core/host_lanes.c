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

static bool fits(const dml_weights *weights)
{
    bool all = weights->inside && !weights->is_float;
    for (int64_t i = 0; i < weights->outputs && all; i++) {
        const taps taps = taps_of(weights, i);
        int64_t above = 0, below = 0;
        for (int64_t t = 0; t < taps.count; t++) {
            const int32_t weight = taps.weights[t];
            *(weight < 0 ? &below : &above) += weight;
            all = all && weight < MOST_WEIGHT && weight > -MOST_WEIGHT;
        }
        all = all && above < MOST_SUM && below > -MOST_SUM;
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

/* How the lanes of an axis are, before any memory is asked for. */
typedef struct layout {
    const dml_weights *weights;
    dml_lanes lanes;
} layout;

/* The lane's outputs, whose inputs begin as near to its position as `groups` loads allow. True if the groups have all taps. */
static bool place(const layout *layout, int64_t index, int64_t groups, lane *lane)
{
    const dml_lanes *lanes = &layout->lanes;
    const int64_t bytes = layout->weights->inputs * lanes->items, limit = bytes - DML_LANE - (groups - 1) * lanes->step;
    int64_t position = dml_larger(limit, 0);
    bool all = true;
    for (int64_t i = 0; i < lanes->outputs; i++) {
        const int64_t output = index * lanes->outputs + i;
        lane->taps[i] = taps_of(layout->weights, dml_smaller(output, layout->weights->outputs - 1));
        position = dml_smaller(position, lane->taps[i].first * lanes->items);
    }
    if (lanes->wide)
        position -= position % lanes->items;
    lane->position = position;
    for (int64_t i = 0; i < lanes->outputs; i++) {
        const int64_t furthest =
            lanes->wide ? position / lanes->items : (position + DML_LANE - 4 * lanes->items) / lanes->items;
        lane->first[i] = dml_smaller(lane->taps[i].first, furthest);
        all = all && lane->taps[i].first + lane->taps[i].count <= lane->first[i] + groups * lanes->taps;
        if (index * lanes->outputs + i >= layout->weights->outputs)
            lane->taps[i].count = 0;
    }
    return all;
}

/* As few groups as all lanes of a block need. */
static int64_t groups_of(const layout *layout, int64_t block)
{
    lane lane;
    int64_t groups = 1;
    for (int64_t k = 0; k < layout->lanes.lanes; k++)
        while (!place(layout, block * layout->lanes.lanes + k, groups, &lane))
            groups++;
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
    lanes->blocks = dml_ceil_div(layout->weights->outputs, lanes->lanes * lanes->outputs);
}

static int64_t all_groups(const layout *layout)
{
    int64_t groups = 0;
    for (int64_t block = 0; block < layout->lanes.blocks; block++)
        groups += groups_of(layout, block);
    return groups;
}

/* Which tap of which output the byte of a lane is, and its item: false if it is none. */
static bool byte_of(const dml_lanes *lanes, int64_t byte, int64_t *output, int64_t *tap, int64_t *item)
{
    const int64_t sum = byte / 4;
    *item = sum % lanes->items;
    *output = lanes->wide ? 0 : sum / lanes->items;
    *tap = byte % 4 + (lanes->wide ? sum / lanes->items * 4 : 0);
    return *output < lanes->outputs;
}

static void write_control(const dml_lanes *lanes, const lane *lane, uint8_t *control)
{
    int64_t output, tap, item;
    for (int64_t byte = 0; byte < DML_LANE; byte++)
        control[byte] = byte_of(lanes, byte, &output, &tap, &item)
                            ? (uint8_t)((lane->first[output] + tap) * lanes->items + item - lane->position)
                            : 0x80;
}

static void write_weights(const dml_lanes *lanes, const lane *lane, int64_t group, int32_t *weights)
{
    int64_t output, tap, item;
    for (int64_t byte = 0; byte < DML_LANE; byte++) {
        weights[byte] = 0;
        if (byte_of(lanes, byte, &output, &tap, &item)) {
            const int64_t before = lane->taps[output].first - lane->first[output];
            weights[byte] = weight_of(&lane->taps[output], group * lanes->taps + tap - before);
        }
    }
}

static void write_block(layout *layout, int64_t block, int64_t encoded, dml_lanes_encoder *encode)
{
    dml_lanes *lanes = &layout->lanes;
    lane lane[DML_MOST_LANES];
    int32_t weights[DML_MOST_LANES * DML_LANE];
    const int64_t groups = groups_of(layout, block), first = lanes->groups[block];
    lanes->groups[block + 1] = (int32_t)(first + groups);
    for (int64_t k = 0; k < lanes->lanes; k++) {
        const int64_t at = block * lanes->lanes + k;
        place(layout, at, groups, &lane[k]);
        lanes->positions[at] = (int32_t)lane[k].position;
        const int64_t end = lane[k].position + (groups - 1) * lanes->step + DML_LANE;
        lanes->overreads = lanes->overreads || end > layout->weights->inputs * lanes->items;
        write_control(lanes, &lane[k], lanes->controls + at * DML_LANE);
    }
    for (int64_t group = 0; group < groups; group++) {
        for (int64_t k = 0; k < lanes->lanes; k++)
            write_weights(lanes, &lane[k], group, weights + k * DML_LANE);
        encode(weights, (int)lanes->lanes, lanes->weights + (first + group) * encoded * lanes->lanes);
    }
}

dml_lanes *dml_lanes_make(const dml_weights *weights, int64_t items, int64_t lanes, int64_t encoded, dml_lanes_encoder *encode)
{
    layout layout = {weights, {.lanes = lanes, .items = items}};
    if (!fits(weights))
        return NULL;
    describe(&layout, false);
    int64_t groups = all_groups(&layout);
    if (items < 3) {
        describe(&layout, true);
        const int64_t others = all_groups(&layout);
        if (others >= groups)
            describe(&layout, false);
        groups = dml_smaller(groups, others);
    }
    const int64_t blocks = layout.lanes.blocks, align = 64;
    const int64_t bytes[] = {groups * encoded * lanes, blocks * lanes * DML_LANE, blocks * lanes * 4, (blocks + 1) * 4};
    dml_lanes *made = malloc(sizeof *made + (size_t)(bytes[0] + bytes[1] + bytes[2] + bytes[3] + align));
    if (!made)
        return NULL;
    layout.lanes.weights = made->memory + (-(uintptr_t)made->memory % (uintptr_t)align);
    layout.lanes.controls = (uint8_t *)layout.lanes.weights + bytes[0];
    layout.lanes.positions = (int32_t *)(void *)(layout.lanes.controls + bytes[1]);
    layout.lanes.groups = (int32_t *)(void *)((char *)layout.lanes.positions + bytes[2]);
    layout.lanes.groups[0] = 0;
    for (int64_t block = 0; block < blocks; block++)
        write_block(&layout, block, encoded, encode);
    *made = layout.lanes;
    return made;
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

dml_row_taps *dml_row_taps_make(const dml_weights *weights, int64_t each, int64_t words, dml_row_encoder *encode)
{
    const int64_t outputs = weights->outputs;
    int64_t all = 0;
    if (!fits(weights))
        return NULL;
    for (int64_t i = 0; i < outputs; i++)
        all += dml_ceil_div(taps_of(weights, i).count, each) * words;
    dml_row_taps *made = malloc(sizeof *made + (size_t)(3 * outputs + 1 + all) * 4);
    if (!made)
        return NULL;
    made->first = (int32_t *)(void *)made->memory;
    made->count = made->first + outputs;
    made->at = made->count + outputs;
    made->weights = (uint32_t *)(void *)(made->at + outputs + 1);
    made->at[0] = 0;
    for (int64_t i = 0; i < outputs; i++) {
        const taps taps = taps_of(weights, i);
        uint32_t *to = made->weights + made->at[i];
        for (int64_t t = 0; t < taps.count; t += each, to += words) {
            int32_t group[4];
            for (int64_t k = 0; k < each; k++)
                group[k] = weight_of(&taps, t + k);
            encode(group, to);
        }
        made->first[i] = (int32_t)taps.first;
        made->count[i] = (int32_t)taps.count;
        made->at[i + 1] = (int32_t)(to - made->weights);
    }
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
