// Clamps sequence lengths in place: of every eight bytes the first BYTES, an integer in the device's byte order, become a
// 64-bit length in [0, extent].
#version 450
#extension GL_GOOGLE_include_directive : require
#define ONLY_32_BIT
#include "abi.h"
#include "numbers.glsl"

layout(local_size_x_id = DML_GROUP_SIZE) in;
layout(constant_id = DML_LENGTHS_SIGNED) const bool SIGNED = true;
layout(constant_id = DML_LENGTHS_BYTES) const int BYTES = 8;

layout(set = 0, binding = 1) restrict buffer Lengths { i64 lengths[]; };
layout(set = 0, binding = 2, std140) uniform Table { dml_lengths_table table; };

// Its low 32 bits, of which fewer may count.
uint low_bits(i64 raw)
{
    const int spare = BYTES < 4 ? 32 - 8 * BYTES : 0;
    uint low = low_word(raw) << spare;
    return SIGNED ? uint(int(low) >> spare) : low >> spare;
}

void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < table.count; i += table.invocations) {
        uint low = low_bits(lengths[i]), high = BYTES < 8 ? 0 : lengths[i].y;
        if (SIGNED && int(BYTES < 8 ? low : high) < 0)
            lengths[i] = i64(0);
        else
            lengths[i] = is_less(i64(low, high), table.extent) ? i64(low, high) : table.extent;
    }
}
