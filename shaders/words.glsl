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

uvec2 halves_of(uvec2 word)
{
    return word;
}

Word8 word_from(uvec2 halves)
{
    return halves;
}

// Eight bytes that begin `shift` bits within the first of two words.
uvec2 extract(uvec2 word, uvec2 next, uint shift)
{
    uvec3 from = shift < 32 ? uvec3(word, next.x) : uvec3(word.y, next);
    shift %= 32;
    return from.xy >> shift | from.yz << 1 << (31 - shift);
}

#else
#define Word8 uint64_t
#define Word16 u64vec2
#define FIRST(word16) word16.x
#define SECOND(word16) word16.y

uvec2 halves_of(uint64_t word)
{
    return unpackUint2x32(word);
}

Word8 word_from(uvec2 halves)
{
    return packUint2x32(halves);
}

// Eight bytes that begin `shift` bits within the first of two words.
uint64_t extract(uint64_t word, uint64_t next, uint shift)
{
    return word >> shift | next << 1 << (63 - shift);
}

#endif

// The lowest n of 4 bytes; all for 4 and more, none below 0.
uint low_bytes(int n)
{
    return n >= 4 ? ~0u : (1u << (max(n, 0) * 8)) - 1;
}
