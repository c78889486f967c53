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
#include "vk/manifests.h"

static void open_if_lavapipe(const char *manifest, const char *library, void *none)
{
    (void)manifest, (void)none;
    const char *slash = strrchr(library, '/');
    char reason[8]; /* the loader finds it out, too */
    if (strncmp(slash ? slash + 1 : library, "libvulkan_lvp", strlen("libvulkan_lvp")) == 0)
        (void)dml_library_open(library, true, reason, sizeof reason);
}

void dml_cpu_driver_open(void)
{
    dml_manifests_visit(open_if_lavapipe, NULL);
}
