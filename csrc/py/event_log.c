#include "py/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/events.h"

/* Nobody listens in a process that has not imported logging, unless the environment asks for it: calls import nothing. */
static bool somebody_listens(void)
{
    PyObject *name = PyUnicode_FromString("logging"), *logging = name ? PyImport_GetModule(name) : NULL;
    const bool imported = logging != NULL;
    Py_XDECREF(name);
    Py_XDECREF(logging);
    return imported || getenv("DMLOPS_LOG");
}

void dml_events_log(void)
{
    dml_event event;
    PyObject *type, *value, *traceback;
    if (!dml_event_waits())
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *logs = somebody_listens() ? PyImport_ImportModule("dmlops.logs") : NULL;
    while (dml_event_take(&event)) {
        if (!logs)
            continue;
        PyObject *none = PyObject_CallMethod(logs, "log", "iN", (int)event.level,
                                             PyUnicode_DecodeUTF8(event.text, (Py_ssize_t)strlen(event.text), "replace"));
        if (!none)
            PyErr_WriteUnraisable(logs);
        Py_XDECREF(none);
    }
    Py_XDECREF(logs);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}
