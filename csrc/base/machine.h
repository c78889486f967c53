/* What the system tells of the machine, and of time. */
#ifndef DML_BASE_MACHINE_H
#define DML_BASE_MACHINE_H

#include <stdint.h>

/* Processor cores that this thread may run on, asked anew each time; 1 where the system does not tell. */
int dml_usable_cores(void);

/* Bytes; 0 where the system does not tell. */
unsigned long long dml_machine_memory(void);
unsigned long long dml_machine_memory_available(void); /* that the system could still give */

/* Of a monotonic clock, from an unspecified start. */
int64_t dml_nanoseconds(void);

void dml_sleep(int milliseconds);

void dml_yield(void); /* to threads that could run on this core now */

#endif
