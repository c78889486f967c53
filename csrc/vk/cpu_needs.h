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

/* A clause such as "it needs 6 threads, and this process may start 2 (RLIMIT_NPROC)". */
typedef struct dml_need {
    char text[200];
    bool no_memory; /* the system has none, whatever this process may have */
} dml_need;

/* What a need that is not met is reported as: a shortage of memory as such, all else as `otherwise`. */
static inline dml_code dml_need_code(const dml_need *unmet, dml_code otherwise)
{
    return unmet->no_memory ? DML_NO_MEMORY : otherwise;
}

/* Whether there is memory for a driver to be opened; else the need that is not met. */
bool dml_cpu_can_open(dml_need *unmet);

/* Whether there is all that a device needs from its creation on. */
bool dml_cpu_can_start(dml_need *unmet);

/* Whether a context's driver can work on after `bytes` are allocated. A device that is no CPU needs nothing. */
bool dml_cpu_can_allocate(dml_context *context, uint64_t bytes, dml_need *unmet);

typedef enum dml_cpu_work {
    DML_CPU_CALL,    /* of any kind: where memory was limited at the last check, it may be used up by now */
    DML_CPU_COMPILE, /* the driver compiles */
    DML_CPU_FILE,    /* it takes more of its file, as for each descriptor set */
} dml_cpu_work;

/* Before a context's driver does such work: fails where it would. */
dml_code dml_cpu_check(dml_context *context, dml_cpu_work work, dml_status *status);

#endif
