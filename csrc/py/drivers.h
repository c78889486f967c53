/* Functions of dmlops._core for `python -m dmlops`, which says where devices come from. */
#ifndef DML_PY_DRIVERS_H
#define DML_PY_DRIVERS_H

#include "py/state.h"

/* How devices were looked for: a list of (whether directly in a driver, path of loader or driver, why it gave none), and for
 * each Vulkan device the position of its way there. */
PyObject *dml_ways(PyObject *module, PyObject *none);

/* Opens the driver of a given path without the loader: (its path, why it gives no device, list of dmlops.Device). A bad driver
 * may end the process. */
PyObject *dml_probe_driver(PyObject *module, PyObject *library);

#endif
