// Words of 8 and 16 bytes: of 64-bit integers, or, where VECTORS is defined, vectors of 32-bit integers.
//
// VECTORS is for GPUs: they load and store such a vector at once, but not one of 64-bit integers. A CPU driver takes less time
// for 64-bit integers. There are no words of 32 bytes then.
//
// ONLY_32_BIT is for devices that lack 64-bit integers, or storage of 8 or 16 bits. Scalars of 1 and 2 bytes are stored by
// atomics on the 4 bytes around them, so the destination must not be memory whose neighbouring bytes belong to somebody else:
// host memory is staged.
#ifdef ONLY_32_BIT
#define VECTORS
#define WRITEONLY // atomics read
#else
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#define WRITEONLY writeonly
#endif

#ifdef VECTORS
#define Word8 uvec2
#define Word16 uvec4
#define FIRST(word16) word16.xy
#define SECOND(word16) word16.zw
#else
#define Word8 uint64_t
#define Word16 u64vec2
#define FIRST(word16) word16.x
#define SECOND(word16) word16.y
#endif
