// Sequence lengths from integers of any size, in place: the first BYTES bytes of every eight become a length of 64 bits, clamped to
// [0, extent]. A plan has put them there, in the device's byte order.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool SIGNED = true;
layout(constant_id = 2) const int BYTES = 8;

layout(set = 0, binding = 1) restrict buffer Lengths { int64_t lengths[]; };
layout(set = 0, binding = 2, std140) uniform Table {
    uint count;
    uint stride; // invocations there are
    uvec2 extent; // low word first
} table;

void main()
{
    int64_t extent = int64_t(packUint2x32(table.extent));
    for (uint i = gl_GlobalInvocationID.x; i < table.count; i += table.stride) {
        int64_t raw = lengths[i] << (64 - 8 * BYTES);
        if (SIGNED)
            lengths[i] = clamp(raw >> (64 - 8 * BYTES), int64_t(0), extent);
        else
            lengths[i] = int64_t(min(uint64_t(raw) >> (64 - 8 * BYTES), uint64_t(extent)));
    }
}
