// What an invocation has loaded of the source, and words composed of it by a pattern that is known when the pipeline is
// compiled.

// Where byte `at` of a tile is among the bytes that were loaded. `stride` is the distance of elements in the source, `low` the
// begin of the window from the first element's. All arguments are constants. Each kernel defines its own.
uint pattern(uint at, int stride, int low);

#ifdef VECTORS

// An invocation has one at a time. Passed by value, it would be copied for each word.
struct Window {
    uint unused;
};
uvec2 window_words[DML_MAX_WINDOW_WORDS];

uvec2 word_of(Window w, uint i)
{
    return window_words[i];
}

void set_word(inout Window w, uint i, uvec2 word)
{
    window_words[i] = word;
}

#else

// The DML_MAX_WINDOW_WORDS 8-byte words of all windows. Not an array: compilers split structures and vectors more readily.
struct Window {
    u64vec4 a, b, c, d, e, f, g, h;
};

uint64_t word_of(Window w, uint i)
{
    u64vec4 low = i < 4 ? w.a : i < 8 ? w.b : i < 12 ? w.c : w.d;
    u64vec4 high = i < 20 ? w.e : i < 24 ? w.f : i < 28 ? w.g : w.h;
    return i < 16 ? low[i % 4] : high[i % 4];
}

void set_word(inout Window w, uint i, uint64_t word)
{
    uint k = i % 4;
    if (i < 4)
        w.a[k] = word;
    else if (i < 8)
        w.b[k] = word;
    else if (i < 12)
        w.c[k] = word;
    else if (i < 16)
        w.d[k] = word;
    else if (i < 20)
        w.e[k] = word;
    else if (i < 24)
        w.f[k] = word;
    else if (i < 28)
        w.g[k] = word;
    else
        w.h[k] = word;
}

#endif

// Four bytes of a tile, of which `unit` at a time are together in the source.
uint compose4(Window w, uint first, int stride, int low, uint unit)
{
    uint word = 0;
    [[unroll]] for (uint at = 0; at < 4; at += unit) {
        uint from = pattern(first + at, stride, low);
        uvec2 halves = halves_of(word_of(w, from / 8));
        uint bytes = (from % 8 < 4 ? halves.x : halves.y) >> (from % 4 * 8);
        if (unit < 4)
            bytes &= (1u << (unit * 8 % 32)) - 1;
        word |= bytes << (at * 8);
    }
    return word;
}

Word8 compose8(Window w, uint first, int stride, int low, uint unit)
{
    if (unit == 8)
        return word_of(w, pattern(first, stride, low) / 8);
    return word_from(uvec2(compose4(w, first, stride, low, unit), compose4(w, first + 4, stride, low, unit)));
}
