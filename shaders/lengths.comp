// Clamps sequence lengths in place: of every eight bytes the first BYTES, an integer in the device's byte order, become a
// 64-bit length in [0, extent].
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#include "abi.h"

layout(local_size_x_id = DML_GROUP_SIZE) in;
layout(constant_id = DML_LENGTHS_SIGNED) const bool SIGNED = true;
layout(constant_id = DML_LENGTHS_BYTES) const int BYTES = 8;

layout(set = 0, binding = 1) restrict buffer Lengths { int64_t lengths[]; };
layout(set = 0, binding = 2, std140) uniform Table { dml_lengths_table table; };

void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < table.count; i += table.invocations) {
        int64_t raw = lengths[i] << (64 - 8 * BYTES);
        if (SIGNED)
            lengths[i] = clamp(raw >> (64 - 8 * BYTES), int64_t(0), table.extent);
        else
            lengths[i] = int64_t(min(uint64_t(raw) >> (64 - 8 * BYTES), uint64_t(table.extent)));
    }
}
