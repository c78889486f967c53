/*
 * Five functions of libm have a new version since glibc 2.29, which differs from the one before in errno alone. Code that
 * calls them is linked with --wrap, and so calls the older version, which glibc 2.28 has too: OLDEST, the machine's first.
 */
#define OLD_VERSION(name, parameters, arguments)                  \
    double old_##name parameters;                                 \
    __asm__(".symver old_" #name ", " #name "@" OLDEST);          \
    __attribute__((visibility("hidden"))) double __wrap_##name parameters { return old_##name arguments; }

OLD_VERSION(exp, (double x), (x))
OLD_VERSION(exp2, (double x), (x))
OLD_VERSION(log, (double x), (x))
OLD_VERSION(log2, (double x), (x))
OLD_VERSION(pow, (double x, double y), (x, y))
