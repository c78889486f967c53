/* Memory of our own that nobody may touch now: AddressSanitizer stops at an access to it. Without that, nothing. */
#ifndef DML_BASE_FENCE_H
#define DML_BASE_FENCE_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Of `capacity` bytes the first `bytes` may be used. Gives `data`. */
static inline void *dml_fence(void *data, size_t bytes, size_t capacity)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(data, bytes);
    __asan_poison_memory_region((char *)data + bytes, capacity - bytes);
#else
    (void)bytes, (void)capacity;
#endif
    return data;
}

#endif
