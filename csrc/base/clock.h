/* Time that only goes forward, and sleep. */
#ifndef DML_BASE_CLOCK_H
#define DML_BASE_CLOCK_H

#include <stdint.h>

/* Of a monotonic clock, from an unspecified start. */
int64_t dml_nanoseconds(void);

void dml_sleep(int milliseconds);

#endif
