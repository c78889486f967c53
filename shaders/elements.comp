// Anything: one narrow word of an element per invocation. The table's innermost axis is the one that a work group walks along;
// it finds its way once a walk. REVERSED: 0 no axis, 1 the one that the table names, 2 likewise where that axis was cut, so that
// elements whose source is elsewhere are left alone.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

void copy_element(Offsets at)
{
    if (REVERSED == 1)
        reverse(at);
    if (REVERSED == 2) {
        int64_t length = lengths[at.entry], i = int64_t(packUint2x32(table.reversed_begin)) + int64_t(at.reversed);
        int64_t from = i < length ? length - 1 - i : i, begin = int64_t(packUint2x32(table.source_begin));
        if (from < begin || from >= int64_t(packUint2x32(table.source_end)))
            return;
        at.src += uint(from - begin) * table.reversed_stride;
    }
    copy_edge(at.src, at.dst);
}

void main()
{
    Offsets step = axis_step(0);
    Share share = first_share();
    if (share.begin < share.end) [[loop]] do {
        uint part = divide(share.begin, table.rows, table.rows_multiplier);
        Offsets walk = locate((share.begin - part * table.rows) * table.extent).at;
        uint begin = part * table.part_tiles, last = begin + min(table.part_tiles, table.extent - begin);
        uint i = begin + gl_LocalInvocationID.x;
        if (i < last) do {
            copy_element(move(walk, i, step));
            i += GROUP_SIZE;
        } while (i < last);
        if (++share.begin == share.end)
            share = next_share();
    } while (share.begin < share.end);
}
