#include "py/event_log.h"

#include <string.h>

#include "base/events.h"

void dml_events_log(void)
{
    dml_event event;
    PyObject *type, *value, *traceback;
    if (!dml_event_waits())
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *logs = PyImport_ImportModule("dmlops.logs");
    while (logs && dml_event_take(&event)) {
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
