/* Long work asks every 100 ms whether its caller wants to stop. */
#ifndef DML_BASE_INTERRUPT_H
#define DML_BASE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* Of one call. */
typedef struct dml_interrupt_poll {
    bool interrupted;
    int64_t asked; /* when, by dml_nanoseconds */
} dml_interrupt_poll;

/* `function` (or NULL) is what is asked, on the thread of the work, which may hold no lock meanwhile: it may run anything, and
 * fork. Before any work. */
void dml_interrupt_init(bool (*function)(void));

dml_interrupt_poll dml_interrupt_poll_from_now(void);

/* When it is time to ask again. */
int64_t dml_interrupt_time(const dml_interrupt_poll *poll);

/* Whether to call dml_interrupt_ask now. Where it is time, that starts anew. */
bool dml_interrupt_due(dml_interrupt_poll *poll);

/* True if the caller wants to stop. */
bool dml_interrupt_ask(void);

/* Asks, where it is time. Whether the caller has wanted to stop, now or before; NULL never does. */
bool dml_interrupt_stops(dml_interrupt_poll *poll);

#endif
