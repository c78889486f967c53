/* Opening Mesa's CPU driver apart from the LLVM of other libraries. */
#ifndef DML_VK_CPU_DRIVER_H
#define DML_VK_CPU_DRIVER_H

/* Call before the Vulkan loader loads drivers, with the libraries of this one, one a line: it is then found loaded and bound.
 * It stays open: the loader would otherwise unload the driver, and bind it anew to whatever the process has by then. */
void dml_cpu_driver_open(const char *libraries);

#endif
