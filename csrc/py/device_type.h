/* The type dmlops.DeviceArray as Python sees it: its attributes and methods, and which file does the work. */
#ifndef DML_PY_DEVICE_TYPE_H
#define DML_PY_DEVICE_TYPE_H

#include "py/state.h"

/* Makes the type and adds it to the module. 0, or -1 with an exception set. */
int dml_device_type_init(dml_state *state, PyObject *module);

#endif
