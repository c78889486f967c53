/* Opening Mesa's CPU driver apart from the LLVM of other libraries. */
#ifndef DML_VK_CPU_DRIVER_H
#define DML_VK_CPU_DRIVER_H

#include <stddef.h>

/* Call before the Vulkan loader loads drivers, with the libraries of this one, one a line: it is then found loaded and bound.
 * It stays open: the loader would otherwise unload the driver, and bind it anew to whatever the process has by then. `reason`
 * is left as it is, or says why one cannot be opened. */
void dml_cpu_driver_open(const char *libraries, char *reason, size_t size);

#endif
