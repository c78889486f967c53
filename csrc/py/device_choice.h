/* Devices as Python sees them, and which of them a call runs on. */
#ifndef DML_PY_DEVICE_CHOICE_H
#define DML_PY_DEVICE_CHOICE_H

#include <stdbool.h>

#include "py/state.h"

/* Where a call runs: in plain C, or on the Vulkan device that dml_vk_device counts as `index`. */
typedef struct dml_choice {
    bool host;
    int index;
} dml_choice;

/* Makes the type dmlops.Device. 0, or -1 with an exception set. */
int dml_device_init(dml_state *state, PyObject *module);

/* A new list of every device: usable Vulkan devices, the host, unusable ones. */
PyObject *dml_device_list(const dml_state *state);

/* The entry of that list for a device; a new reference. */
PyObject *dml_device_of(const dml_state *state, const dml_choice *choice);

/* Why there is no Vulkan device, as a str; None if there is one. */
PyObject *dml_device_missing(void);

/* The device that an argument `device=` means, which is not None. 0, or -1 with an exception set. May run Python. */
int dml_device_choose(const dml_state *state, PyObject *object, dml_choice *choice);

/* The device where none is named: that of DMLOPS_DEVICE, else the best. 0, or -1 with an exception set. */
int dml_device_default(const dml_state *state, dml_choice *choice);

/* The one or the other, as `object` is None or not. */
int dml_device_from(const dml_state *state, PyObject *object, dml_choice *choice);

extern const dml_choice dml_host;

#endif
