// Numbers of 64 bits from 0 on, i64 of abi.h: integers, or, where ONLY_32_BIT is defined, vectors of 32-bit integers, the low
// one first.
uint low_word(i64 n)
{
#ifdef ONLY_32_BIT
    return n.x;
#else
    return uint(n);
#endif
}

bool is_less(i64 a, i64 b)
{
#ifdef ONLY_32_BIT
    return a.y < b.y || (a.y == b.y && a.x < b.x);
#else
    return a < b;
#endif
}

i64 sum(i64 a, uint b)
{
#ifdef ONLY_32_BIT
    uint carry, low = uaddCarry(a.x, b, carry);
    return uvec2(low, a.y + carry);
#else
    return a + i64(b);
#endif
}

i64 difference(i64 a, i64 b)
{
#ifdef ONLY_32_BIT
    uint borrow, low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
#else
    return a - b;
#endif
}
