#include "host/host_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* The upper 8 bits of weights, times bytes, are added in 16 bits: those of one sign, rounded up for each of DML_LANE_CHUNK / 2
 * taps, are less than 128. */
enum { MOST_WEIGHT = 127 << 16, MOST_SUM = (127 - DML_LANE_CHUNK / 4) << 16 };

static bool fit(const dml_weights *weights)
{
    return weights->inside && !weights->is_float && weights->largest < MOST_WEIGHT && weights->sums < 2 * (int64_t)MOST_SUM;
}

/* The weights of 4 taps of an output, of which the first is tap `tap` of its run; `room` is for those that it has not. */
static const int32_t *taps_of(const dml_weights *weights, int64_t output, int64_t tap, int32_t room[4])
{
    const dml_weights_run *run = &weights->runs[output];
    const int32_t *row = dml_weights_row(weights, output), *taps = row + 1 + (run->first - row[0]);
    if (tap >= 0 && tap + 4 <= run->count)
        return taps + tap;
    for (int64_t k = 0; k < 4; k++)
        room[k] = tap + k >= 0 && tap + k < run->count ? taps[tap + k] : 0;
    return room;
}

bool dml_lanes_fit(const dml_lines_pass *pass)
{
    return pass->summing.sum->kind == DML_SUM_CLIP && pass->from == 1 && pass->to == 1 && !pass->weights->is_float &&
           pass->weights->inside;
}

/* --- along columns ------------------------------------------------------------------------------------------------ */

/* A lane of a block: of each of its outputs, the input of the first tap of its first group, and that in bytes of the lane. */
typedef struct lane {
    int64_t first[DML_LANE / 4];
    int64_t offset[DML_LANE / 4];
    int64_t position;
} lane;

typedef struct layout {
    const dml_weights *weights;
    int64_t quads;                  /* different groups of 4 taps that a group has in a lane, */
    int64_t copies;                 /* each for so many sums */
    uint32_t control[DML_LANE / 4]; /* of each sum, where its output begins with the lane's bytes */
    uint32_t moved[DML_LANE / 4];   /* what is added for each byte that it begins behind them */
    dml_lanes lanes;
} layout;

static int64_t first_of(const layout *layout, int64_t output)
{
    return layout->weights->runs[dml_smaller(output, layout->weights->outputs - 1)].first;
}

/* The lane's outputs, whose inputs begin as near to its position as `groups` loads allow. True if the groups have all taps. */
static bool place(const layout *layout, int64_t index, int64_t groups, lane *lane)
{
    const dml_lanes *lanes = &layout->lanes;
    const dml_weights *weights = layout->weights;
    const int64_t items = lanes->items, begin = index * lanes->outputs;
    int64_t position = dml_larger(weights->inputs * items - DML_LANE - (groups - 1) * lanes->step, 0);
    bool all = true;
    for (int64_t i = 0; i < lanes->outputs; i++)
        position = dml_smaller(position, first_of(layout, begin + i) * items);
    if (lanes->wide)
        position -= position % items;
    lane->position = position;
    const int64_t furthest = lanes->wide ? position : position + DML_LANE - 4 * items;
    for (int64_t i = 0; i < lanes->outputs; i++) {
        const int64_t first = first_of(layout, begin + i), output = dml_smaller(begin + i, weights->outputs - 1);
        lane->first[i] = first * items <= furthest ? first : furthest / items;
        lane->offset[i] = lane->first[i] * items - position;
        all = all && first + weights->runs[output].count <= lane->first[i] + groups * lanes->taps;
    }
    return all;
}

/* As few groups as all lanes of a block need. */
static int64_t groups_of(const layout *layout, int64_t block)
{
    const dml_lanes *lanes = &layout->lanes;
    lane lane;
    int64_t groups = 1;
    for (int64_t k = block * lanes->lanes; k < (block + 1) * lanes->lanes; k++) {
        const int64_t output = k * lanes->outputs;
        while (output < layout->weights->outputs && layout->weights->runs[output].count > groups * lanes->taps)
            groups++;
        while (!place(layout, k, groups, &lane))
            groups++;
    }
    return groups;
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

static void describe(layout *layout, bool wide)
{
    dml_lanes *lanes = &layout->lanes;
    const int64_t items = lanes->items;
    lanes->wide = wide;
    lanes->outputs = wide || items > 2 ? 1 : 4 / items;
    lanes->taps = wide ? DML_LANE / items : 4;
    lanes->step = lanes->taps * items;
    lanes->blocks = dml_ceil_div(layout->weights->outputs, lanes->lanes * lanes->outputs);
    layout->quads = items > 2 ? 1 : 4 / items;
    layout->copies = items > 2 ? 4 : items;
    for (int64_t sum = 0; sum < DML_LANE / 4; sum++) {
        const int64_t pixel = sum / items, begin = (wide ? 4 * pixel * items : 0) + sum % items;
        const bool used = pixel < layout->quads;
        layout->moved[sum] = used ? 0x01010101 : 0;
        layout->control[sum] = 0x80808080;
        if (used)
            layout->control[sum] = 0x01010101 * (uint32_t)begin + (0x03020100 * (uint32_t)items);
    }
}

/* Bytes of a control are below DML_LANE, or read nothing: none is carried to the next one. */
static void write_control(const layout *layout, const lane *lane, uint8_t *control)
{
    for (int64_t sum = 0; sum < DML_LANE / 4; sum++) {
        const int64_t output = layout->lanes.outputs > 1 ? sum / layout->copies : 0;
        const uint32_t word = layout->control[sum] + layout->moved[sum] * (uint32_t)lane->offset[output];
        memcpy(control + 4 * sum, &word, sizeof word); /* little endian */
    }
}

/* One word of a quad, for each of its sums. */
DML_INLINE void spread(uint32_t *to, uint32_t word, int64_t copies)
{
    to[0] = word;
    if (copies > 1)
        to[1] = word;
    if (copies > 2)
        to[2] = to[3] = word;
}

/* A lane's weights in a group; those of its words lie `stride` words apart. */
static void write_weights(const layout *layout, int64_t index, const lane *lane, int64_t group, uint32_t *to, int64_t stride)
{
    const dml_lanes *lanes = &layout->lanes;
    for (int64_t quad = 0; quad < layout->quads; quad++) {
        const int64_t i = lanes->wide ? 0 : quad, output = index * lanes->outputs + i;
        const int64_t tap = group * lanes->taps + (lanes->wide ? 4 * quad : 0);
        uint32_t words[DML_MOST_WORDS] = {0};
        int32_t room[4];
        if (output < layout->weights->outputs)
            lanes->encode(taps_of(layout->weights, output, tap - (first_of(layout, output) - lane->first[i]), room), words);
        for (int64_t word = 0; word < lanes->words; word++)
            spread(to + word * stride + quad * layout->copies, words[word], layout->copies);
    }
}

static void write_block(layout *layout, int64_t block, int64_t groups)
{
    dml_lanes *lanes = &layout->lanes;
    const int64_t first = lanes->groups[block], stride = lanes->lanes * (DML_LANE / 4);
    lanes->groups[block + 1] = (int32_t)(first + groups);
    for (int64_t k = 0; k < lanes->lanes; k++) {
        const int64_t at = block * lanes->lanes + k;
        uint32_t *weights = (uint32_t *)(void *)lanes->weights + first * lanes->words * stride + k * (DML_LANE / 4);
        lane lane = {.position = 0};
        place(layout, at, groups, &lane);
        lanes->positions[at] = (int32_t)lane.position;
        const int64_t end = lane.position + (groups - 1) * lanes->step + DML_LANE;
        lanes->overreads = lanes->overreads || end > layout->weights->inputs * lanes->items;
        write_control(layout, &lane, lanes->controls + at * DML_LANE);
        for (int64_t group = 0; group < groups; group++, weights += lanes->words * stride)
            write_weights(layout, at, &lane, group, weights, stride);
    }
}

static dml_lanes *make(layout *layout, const int32_t *groups, int64_t all)
{
    const int64_t blocks = layout->lanes.blocks, lanes = blocks * layout->lanes.lanes, align = 64;
    const int64_t weights = all * layout->lanes.words * 4 * layout->lanes.lanes * (DML_LANE / 4);
    dml_lanes *made = malloc(sizeof *made + (size_t)(weights + lanes * (DML_LANE + 4) + (blocks + 1) * 4 + align));
    if (!made)
        return NULL;
    layout->lanes.weights = made->memory + (-(uintptr_t)made->memory % (uintptr_t)align);
    layout->lanes.controls = (uint8_t *)layout->lanes.weights + weights;
    layout->lanes.positions = (int32_t *)(void *)(layout->lanes.controls + lanes * DML_LANE);
    layout->lanes.groups = layout->lanes.positions + lanes;
    layout->lanes.groups[0] = 0;
    for (int64_t block = 0; block < blocks; block++)
        write_block(layout, block, groups[block]);
    *made = layout->lanes;
    return made;
}

dml_lanes *dml_lanes_make(const dml_weights *weights, int64_t items, int64_t lanes, int64_t words, dml_weights_encoder *encode)
{
    layout layout = {.weights = weights, .lanes = {.lanes = lanes, .items = items, .words = words, .encode = encode}};
    int32_t *room = fit(weights) ? calloc((size_t)weights->outputs * 2, sizeof *room) : NULL, *groups = room;
    if (!room)
        return NULL;
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
    dml_lanes *made = make(&layout, groups, all);
    free(room);
    return made;
}

/* --- along rows --------------------------------------------------------------------------------------------------- */

dml_row_taps *dml_row_taps_make(const dml_weights *weights, int64_t each, int64_t words, dml_weights_encoder *encode)
{
    const int64_t outputs = weights->outputs;
    int64_t all = 0;
    for (int64_t i = 0; i < outputs; i++)
        all += dml_ceil_div(weights->runs[i].count, each) * words;
    dml_row_taps *made = fit(weights) ? malloc(sizeof *made + (size_t)(outputs + 1 + all) * 4) : NULL;
    if (!made)
        return NULL;
    made->runs = weights->runs;
    made->at = (int32_t *)(void *)made->memory;
    made->weights = (uint32_t *)(void *)(made->at + outputs + 1);
    made->at[0] = 0;
    for (int64_t i = 0; i < outputs; i++) {
        uint32_t *to = made->weights + made->at[i];
        int32_t room[4];
        for (int64_t t = 0; t < weights->runs[i].count; t += each, to += words)
            encode(taps_of(weights, i, t, room), to);
        made->at[i + 1] = (int32_t)(to - made->weights);
    }
    return made;
}

const char *const *dml_row_lines(const dml_row_taps *taps, const dml_sum_inputs *in, int64_t output, int64_t each,
                                 const char *lines[DML_MOST_ROW_TAPS + 4])
{
    const int64_t first = taps->runs[output].first, count = taps->runs[output].count, padded = dml_ceil_div(count, each) * each;
    if (count > DML_MOST_ROW_TAPS)
        return NULL;
    for (int64_t t = 0; t < padded; t++)
        lines[t] = in->base + ((first + dml_smaller(t, count - 1)) & in->mask) * in->stride;
    return lines;
}

/* --- the choice --------------------------------------------------------------------------------------------------- */

bool dml_lanes_choose_columns(dml_lines_pass *pass, const dml_lines_kernel *kernel, int slot, dml_weights_pack *pack)
{
    if (pass->items > DML_LANE_ITEMS)
        return false;
    const dml_lanes *lanes = dml_weights_packed(pass->weights, slot + (int)pass->items, pass->items, pack);
    if (!lanes)
        return false;
    pass->kernel = kernel;
    pass->packed = lanes;
    pass->overreads = lanes->overreads;
    return true;
}

bool dml_lanes_choose_rows(dml_lines_pass *pass, const dml_lines_kernel *kernel, int slot, dml_weights_pack *pack)
{
    const void *taps = dml_lanes_fit(pass) ? dml_weights_packed(pass->weights, slot, 0, pack) : NULL;
    if (!taps)
        return false;
    pass->kernel = kernel;
    pass->packed = taps;
    return true;
}
