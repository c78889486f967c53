// Copies elements of the type T between two buffers, as a work list says. VARIANT selects what surrounds the two accesses.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_nonuniform_qualifier : require

#define BRANCH 0  // some invocations are inactive
#define LOOP 1    // some become inactive sooner than others
#define SHARED 2  // by way of shared memory
#define ARRAY 3   // the buffer's descriptor differs between invocations
#define PARTS 4   // some components are stored, others are not

layout(local_size_x_id = 0) in;
layout(scalar, set = 0, binding = 0) readonly buffer Source { T elements[]; } sources[2];
layout(scalar, set = 0, binding = 1) buffer Destination { T destination[]; };
struct Item {
    uint source, destination, count, tile;
};
layout(scalar, set = 0, binding = 2) readonly buffer Work { Item work[]; };

#if VARIANT == SHARED
shared T tiles[64];
#endif

void main()
{
    const Item item = work[gl_GlobalInvocationID.x];
#if VARIANT == BRANCH
    if (item.count != 0)
        destination[item.destination] = sources[0].elements[item.source];
#elif VARIANT == LOOP
    for (uint i = 0; i < item.count; i++)
        destination[item.destination + i] = sources[0].elements[item.source + i];
#elif VARIANT == SHARED
    if (item.count != 0)
        tiles[item.tile] = sources[0].elements[item.source];
    barrier();
    if (item.count != 0)
        destination[item.destination] = tiles[item.tile];
#elif VARIANT == ARRAY
    if (item.count != 0)
        destination[item.destination] = sources[nonuniformEXT(item.tile & 1)].elements[item.source];
#elif VARIANT == PARTS
    if (item.count != 0)
        destination[item.destination].yw = sources[0].elements[item.source].xz;
#endif
}
