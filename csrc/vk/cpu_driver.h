/* Opening Mesa's CPU driver apart from the LLVM of other libraries. */
#ifndef DML_VK_CPU_DRIVER_H
#define DML_VK_CPU_DRIVER_H

/* Call before the Vulkan loader loads drivers: it then finds this one loaded and bound. Does nothing where there is none.
 * It stays open: the loader would otherwise unload the driver, and bind it anew to whatever the process has by then. */
void dml_cpu_driver_open(void);

#endif
