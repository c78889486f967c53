/* A thread that gives back what is pooled and was not used for some seconds. It sleeps while nothing is pooled. */
#ifndef DML_BASE_IDLE_H
#define DML_BASE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* Gives back what nobody has used since `before`, of dml_nanoseconds; whether something is left. */
typedef bool dml_idle_body(int64_t before);

/* Adds a body, once; at most four. */
void dml_idle_watch(dml_idle_body *body);

/* Something was pooled. The first call starts the thread, also in the child of a fork; without one, nothing is given back. */
void dml_idle_wake(void);

/* For tests: how long something is unused before it goes; 10 seconds. */
void dml_idle_after(int milliseconds);

#endif
