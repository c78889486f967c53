/* Opening Mesa's CPU driver apart from the LLVM of other libraries. */
#ifndef DML_VK_CPU_DRIVER_H
#define DML_VK_CPU_DRIVER_H

/* Call before the Vulkan loader loads drivers: it then finds this one already loaded and bound. Does nothing where there is
 * none. Never closed: without users it would be unloaded, and bound anew to whatever the process has by then. */
void dml_cpu_driver_open(void);

#endif
