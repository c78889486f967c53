#include "base/gpu_nodes.h"

#ifdef __linux__
#include <glob.h>
#include <stddef.h>

bool dml_gpu_nodes(void)
{
    static const char *const nodes[] = {"/dev/dri/renderD*", "/dev/nvidia*", "/dev/kfd", "/dev/dxg"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof nodes / sizeof nodes[0]; i++) {
        glob_t matches = {0};
        found = glob(nodes[i], GLOB_NOSORT, NULL, &matches) == 0;
        globfree(&matches);
    }
    return found;
}
#else
bool dml_gpu_nodes(void)
{
    return true;
}
#endif
