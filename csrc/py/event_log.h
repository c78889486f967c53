/* Events reach Python's logging. */
#ifndef DML_PY_EVENT_LOG_H
#define DML_PY_EVENT_LOG_H

#include "py/python.h"

/* Logs what waits, by dmlops.logs.log. Runs Python; an exception that is set stays, one that is raised is shown and dropped. */
void dml_events_log(void);

#endif
