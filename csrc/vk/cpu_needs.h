/* What a driver for the CPU needs of the process.
 *
 * lavapipe compiles to memory that becomes executable, starts threads, and keeps its memory in a file without a name. Where it
 * gets no memory, or one of these not, it ends the process or fails without a reason. So what it needs is tried before it is
 * used. A try takes microseconds; all that a start needs, some 40 us more for each thread. Systems other than Linux are taken
 * to grant everything. */
#ifndef DML_VK_CPU_NEEDS_H
#define DML_VK_CPU_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct dml_context dml_context;

/* These fill in `unmet` with the need that is not met, a clause such as "it needs 6 threads, and this process may start 2
 * (RLIMIT_NPROC)": DML_NO_MEMORY where the system has none, whatever this process may have; else DML_NO_DEVICE. */

/* Of memory for a driver to be opened. */
dml_code dml_cpu_check_open(dml_status *unmet);

/* Of all that a device needs from its creation on. */
dml_code dml_cpu_check_start(dml_status *unmet);

/* Of what a context's driver needs to work on after `bytes` are allocated. A device that is no CPU needs nothing. */
dml_code dml_cpu_check_room(dml_context *context, uint64_t bytes, dml_status *unmet);

typedef enum dml_cpu_work {
    DML_CPU_CALL,    /* of any kind: where memory was limited at the last check, it may be used up by now */
    DML_CPU_COMPILE, /* the driver compiles */
    DML_CPU_FILE,    /* it takes more of its file, as for each descriptor set */
} dml_cpu_work;

/* Before a context's driver does such work: fails where it would. */
dml_code dml_cpu_check(dml_context *context, dml_cpu_work work, dml_status *status);

#endif
