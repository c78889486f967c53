/* Opening Mesa's CPU driver apart from the LLVM of other libraries.
 *
 * lavapipe (libvulkan_lvp.so) calls libLLVM through the dynamic linker, which prefers the symbols that the process has already.
 * TensorFlow makes those of its own LLVM, of another version, visible to all: lavapipe would call into both, and crash. Other
 * CPU drivers, as SwiftShader, contain their compiler.
 */
#include "vk/cpu_driver.h"

#include <stdbool.h>
#include <string.h>

#include "base/library.h"

void dml_cpu_driver_open(const char *libraries, char *reason, size_t size)
{
    char library[DML_PATH];
    for (size_t length; *libraries; libraries += length + (libraries[length] == '\n')) {
        length = strcspn(libraries, "\n");
        if (length >= sizeof library) /* no system opens it */
            continue;
        memcpy(library, libraries, length);
        library[length] = '\0';
        (void)dml_library_open(library, true, reason, size);
    }
}
