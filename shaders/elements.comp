// Anything: one narrow word of an element per invocation, each finding its own place. REVERSED: 0 no axis, 1 the one that
// the table names, 2 likewise where that axis was cut, so that elements whose source is elsewhere are left alone.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

int64_t cut_at(uint i)
{
    return int64_t(uint64_t(table.cut[2 * i]) | uint64_t(table.cut[2 * i + 1]) << 32);
}

void main()
{
    uint begin = gl_WorkGroupID.x * table.per_group;
    uint end = min(begin + table.per_group, table.total);
    for (uint n = begin + gl_LocalInvocationID.x; n < end; n += GROUP_SIZE) {
        Place place = locate(n);
        if (REVERSED == 1) {
            uint length = uint(lengths[place.entry]), i = place.reversed;
            place.src += (i < length ? length - 1 - i : i) * table.reversed_stride;
        }
        if (REVERSED == 2) {
            int64_t length = lengths[place.entry], i = cut_at(0) + int64_t(place.reversed);
            int64_t from = i < length ? length - 1 - i : i;
            if (from < cut_at(1) || from >= cut_at(2))
                continue;
            place.src += uint(from - cut_at(1)) * table.reversed_stride;
        }
        copy_edge(place.src, place.dst);
    }
}
