#include "core/host_lanes.h"

/* The end of a block's loads, if the first of them begins at a position. */
static int64_t end_of(const dml_lanes *lanes, int64_t block, int64_t position, int64_t size)
{
    return position + (lanes->groups[block + 1] - lanes->groups[block] - 1) * lanes->step + size;
}

/* Where a block's loads begin: so far in front that they end within the line, if that is possible. */
static int64_t position_of(const dml_lanes *lanes, int64_t block, int64_t bytes, int64_t size)
{
    const int32_t *positions = lanes->positions + block * lanes->lanes;
    int64_t position = dml_larger(bytes - end_of(lanes, block, 0, size), 0);
    for (int64_t k = 0; k < lanes->lanes; k++)
        position = dml_smaller(position, positions[k]);
    return position;
}

/* Whether all that the lanes of a block read lies in one load. Controls from DML_LANE on read nothing. */
static bool fits(const dml_lanes *lanes, int64_t block, int64_t position, int64_t size)
{
    for (int64_t k = block * lanes->lanes; k < (block + 1) * lanes->lanes; k++) {
        const int64_t room = size - (lanes->positions[k] - position);
        for (int64_t byte = 0; room < DML_LANE && byte < DML_LANE; byte++) {
            const int64_t control = lanes->controls[k * DML_LANE + byte];
            if (control < DML_LANE && control >= room)
                return false;
        }
    }
    return true;
}

void dml_lanes_join(dml_lanes *lanes, int64_t inputs, int64_t vectors)
{
    const int64_t size = vectors * lanes->lanes * DML_LANE, bytes = inputs * lanes->items;
    for (int64_t block = 0; block < lanes->blocks; block++)
        if (!fits(lanes, block, position_of(lanes, block, bytes, size), size))
            return;
    for (int64_t block = 0; block < lanes->blocks; block++) {
        const int64_t position = position_of(lanes, block, bytes, size);
        for (int64_t k = block * lanes->lanes; k < (block + 1) * lanes->lanes; k++)
            for (int64_t byte = 0; byte < DML_LANE; byte++)
                lanes->controls[k * DML_LANE + byte] += (uint8_t)(lanes->positions[k] - position);
        lanes->positions[block * lanes->lanes] = (int32_t)position;
        lanes->overreads = lanes->overreads || end_of(lanes, block, position, size) > bytes;
    }
    lanes->joined = vectors;
}
