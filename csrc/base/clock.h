/* Time that only goes forward, sleep, and giving up the core. */
#ifndef DML_BASE_CLOCK_H
#define DML_BASE_CLOCK_H

#include <stdint.h>

/* Of a monotonic clock, from an unspecified start. */
int64_t dml_nanoseconds(void);

void dml_sleep(int milliseconds);

void dml_yield(void); /* to threads that could run on this core now */

#endif
