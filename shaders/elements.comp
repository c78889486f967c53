// Any plan: an invocation moves one scalar at a time. The table's innermost axis is the run that a workgroup moves along; the
// run's position is looked up once.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "plan.glsl"

void copy_element(Offsets at)
{
    if (REVERSED == DML_REVERSED_AXIS)
        follow_entries(at);
    if (REVERSED == DML_REVERSED_CUT && GATHERED > 0) {
        if (!gather(at))
            return;
    } else if (REVERSED == DML_REVERSED_CUT) {
        uvec2 length = length_at(at.entry), i = sum(table.cut_begin, uvec2(at.reversed, 0));
        uvec2 from = is_less(i, length) ? difference(length, sum(i, uvec2(1, 0))) : i;
        if (is_less(from, table.source_begin) || !is_less(from, table.source_end))
            return;
        at.src += difference(from, table.source_begin).x * table.reversed_stride;
    }
    copy_scalar(at.src, at.dst);
}

void main()
{
    Offsets step = axis_step(0);
    Chunk chunk = first_chunk();
    if (chunk.begin < chunk.end) [[loop]] do {
        uint part = divide(chunk.begin, table.rows, table.rows_multiplier);
        Offsets run = locate((chunk.begin - part * table.rows) * table.elements_extent).at;
        uint begin = part * table.part, last = begin + min(table.part, table.elements_extent - begin);
        uint i = begin + gl_LocalInvocationID.x;
        if (i < last) do {
            copy_element(move(run, i, step));
            i += GROUP_SIZE;
        } while (i < last);
        if (++chunk.begin == chunk.end)
            chunk = next_chunk();
    } while (chunk.begin < chunk.end);
}
