#include "py/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/events.h"

/* Nobody listens in a process that has not imported logging, to its last function, unless the environment asks for it. */
static bool somebody_listens(void)
{
    PyObject *logging = PyDict_GetItemString(PyImport_GetModuleDict(), "logging");
    return (logging && PyObject_HasAttrString(logging, "captureWarnings")) || getenv("DMLOPS_LOG");
}

/* A call that is interrupted meanwhile is so when it is over. */
static void pass_on(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        PyErr_SetInterrupt();
    else
        PyErr_WriteUnraisable(NULL);
    PyErr_Clear();
}

void dml_events_log(void)
{
    dml_event event;
    PyObject *type, *value, *traceback;
    if (!dml_event_waits())
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *imports = somebody_listens() ? PyImport_ImportModule("dmlops.late_imports") : NULL;
    PyObject *logs = imports ? PyObject_CallMethod(imports, "imported", "s", "dmlops.logs") : NULL;
    if (PyErr_Occurred())
        pass_on();
    while (dml_event_take(&event)) {
        if (!logs)
            continue;
        PyObject *none = PyObject_CallMethod(logs, "log", "iN", (int)event.level,
                                             PyUnicode_DecodeUTF8(event.text, (Py_ssize_t)strlen(event.text), "replace"));
        if (!none)
            pass_on();
        Py_XDECREF(none);
    }
    Py_XDECREF(logs);
    Py_XDECREF(imports);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}
