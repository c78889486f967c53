/* Assignment to an index of a device array. */
#ifndef DML_PY_ASSIGN_H
#define DML_PY_ASSIGN_H

#include "py/state.h"

/* self[key] = value, or `del self[key]` where `value` is NULL, which raises. 0, or -1 with an exception set. */
int dml_device_array_assign(dml_state *state, PyObject *self, PyObject *key, PyObject *value);

#endif
