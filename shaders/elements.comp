// Anything: one narrow word of an element per invocation, each finding its own place. REVERSED: 0 no axis, 1 the one that
// the table names, 2 likewise where that axis was cut, so that elements whose source is elsewhere are left alone.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

void main()
{
    uint first = gl_WorkGroupID.x * table.per_group;
    uint end = min(first + table.per_group, table.total);
    for (uint n = first + gl_LocalInvocationID.x; n < end; n += GROUP_SIZE) {
        Place place = locate(n);
        if (REVERSED == 1) {
            uint length = uint(lengths[place.entry]), i = place.reversed;
            place.src += (i < length ? length - 1 - i : i) * table.reversed_stride;
        }
        if (REVERSED == 2) {
            int64_t length = lengths[place.entry], i = int64_t(packUint2x32(table.reversed_begin)) + int64_t(place.reversed);
            int64_t from = i < length ? length - 1 - i : i;
            int64_t begin = int64_t(packUint2x32(table.source_begin));
            if (from < begin || from >= int64_t(packUint2x32(table.source_end)))
                continue;
            place.src += uint(from - begin) * table.reversed_stride;
        }
        copy_edge(place.src, place.dst);
    }
}
