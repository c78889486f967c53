/* What happens seldom and takes time, as lines that csrc/py hands to Python's logging. Any thread may add one. */
#ifndef DML_BASE_EVENTS_H
#define DML_BASE_EVENTS_H

#include <stdbool.h>

#include "base/status.h"

enum { DML_EVENT_BYTES = 320 };

typedef enum dml_event_level { DML_EVENT_INFO, DML_EVENT_WARNING } dml_event_level;

typedef struct dml_event {
    dml_event_level level;
    char text[DML_EVENT_BYTES];
} dml_event;

/* Of many that nobody takes, only the first are kept. */
void dml_event_add(dml_event_level level, const char *format, ...) DML_PRINTF(2, 3);

/* Whether there is one: cheap. */
bool dml_event_waits(void);

/* Takes the oldest one; false if there is none. */
bool dml_event_take(dml_event *event);

#endif
