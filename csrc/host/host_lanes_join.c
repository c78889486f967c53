#include "host/host_lanes.h"

#include <string.h>

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

enum { WORD = 8 }; /* controls that are taken at once */

static const uint64_t each = UINT64_C(0x0101010101010101), top = UINT64_C(0x8080808080808080);

/* Whether all that the lanes of a block read lies in one load. Controls with the upper bit read nothing; others get it from
 * this sum, if they read too far. */
static bool fits(const dml_lanes *lanes, int64_t block, int64_t position, int64_t size)
{
    for (int64_t k = block * lanes->lanes; k < (block + 1) * lanes->lanes; k++) {
        const int64_t room = size - (lanes->positions[k] - position);
        for (int64_t at = 0; room < DML_LANE && at < DML_LANE; at += WORD) {
            uint64_t controls;
            memcpy(&controls, lanes->controls + k * DML_LANE + at, sizeof controls);
            if (room < 1 || ((controls + each * (uint64_t)(0x80 - room)) & ~controls & top))
                return false;
        }
    }
    return true;
}

/* Controls of a lane that lies `bytes` behind the first one. */
static void move(uint8_t *controls, uint64_t bytes)
{
    for (int64_t at = 0; at < DML_LANE; at += WORD) {
        uint64_t some;
        memcpy(&some, controls + at, sizeof some);
        some += each * bytes;
        memcpy(controls + at, &some, sizeof some);
    }
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
            move(lanes->controls + k * DML_LANE, (uint64_t)(lanes->positions[k] - position));
        lanes->positions[block * lanes->lanes] = (int32_t)position;
        lanes->overreads = lanes->overreads || end_of(lanes, block, position, size) > bytes;
    }
    lanes->joined = vectors;
}
