// Anything: one narrow word of an element per invocation. The table's last axis is the one that a work group walks along;
// it finds its way once a walk. REVERSED: 0 no axis, 1 the one that the table names, 2 likewise where that axis was cut, so that
// elements whose source is elsewhere are left alone.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

void copy_element(Place place)
{
    if (REVERSED == 1) {
        uint length = uint(lengths[place.entry]), i = place.reversed;
        place.src += (i < length ? length - 1 - i : i) * table.reversed_stride;
    }
    if (REVERSED == 2) {
        int64_t length = lengths[place.entry], i = int64_t(packUint2x32(table.reversed_begin)) + int64_t(place.reversed);
        int64_t from = i < length ? length - 1 - i : i, begin = int64_t(packUint2x32(table.source_begin));
        if (from < begin || from >= int64_t(packUint2x32(table.source_end)))
            return;
        place.src += uint(from - begin) * table.reversed_stride;
    }
    copy_edge(place.src, place.dst);
}

void main()
{
    Place step = axis_step(table.rank - 1);
    Share share = next_share(gl_WorkGroupID.x);
    if (share.begin < share.end) [[loop]] do {
        uint part = divide(share.begin, table.rows, table.rows_multiplier);
        Place place = locate((share.begin - part * table.rows) * table.extent);
        uint begin = part * table.part_tiles, last = begin + min(table.part_tiles, table.extent - begin);
        uint i = begin + gl_LocalInvocationID.x;
        if (i < last) do {
            copy_element(Place(place.src + i * step.src, place.dst + i * step.dst, place.entry + i * step.entry,
                               place.reversed + i * step.reversed, 0, 0));
            i += GROUP_SIZE;
        } while (i < last);
        if (++share.begin == share.end)
            share = next_share(gl_NumWorkGroups.x);
    } while (share.begin < share.end);
}
