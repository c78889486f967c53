/* Devices as Python sees them, and which of them a call runs on. */
#ifndef DML_PY_DEVICE_CHOICE_H
#define DML_PY_DEVICE_CHOICE_H

#include "host/host_backend.h"
#include "py/state.h"
#include "vk/vk.h"

/* Where a call runs: in plain C, or on the Vulkan device that dml_vk_device counts as `index`. */
typedef struct dml_choice {
    bool host;
    int index;
    bool automatic; /* `host` is not known yet: dml_device_settle, or of a call dml_device_by_cost, says */
} dml_choice;

extern const dml_choice dml_host;

/* What a device can do. */
static inline const dml_backend *dml_backend_of(const dml_choice *device)
{
    return device->host ? &dml_host_backend : &dml_vulkan_backend;
}

/* How many Vulkan devices there are, and what is known of one of them, if it is there; -1 with an exception set. `status` says
 * why there is none. The first call loads drivers, and takes its time. */
int dml_device_find(const dml_state *state, int64_t index, dml_device_info *info, bool *known, dml_status *status);

static inline int dml_device_count(const dml_state *state, dml_status *status)
{
    bool known;
    return dml_device_find(state, -1, NULL, &known, status);
}

/* What is known of one that was counted, without the GIL: another thread may be opening it. */
static inline void dml_device_look(int index, dml_device_info *info)
{
    Py_BEGIN_ALLOW_THREADS;
    dml_vk_device(index, info);
    Py_END_ALLOW_THREADS;
}

/* The dmlops.Device of a Vulkan device, with the number `index`. */
PyObject *dml_device_new(const dml_state *state, int index, const dml_device_info *info);

/* Function of dmlops._core: (a list with a dmlops.Device for each Vulkan device, usable ones first, and then for the host; why
 * there is no Vulkan device, or ""). */
PyObject *dml_device_list(PyObject *module, PyObject *none);

/* The dmlops.Device of a choice; a new reference. */
PyObject *dml_device_of(const dml_state *state, const dml_choice *choice);

/* The device that an argument `device=` means, which is not None; it may be automatic. May run Python.
 *
 * 0, or -1 with an exception set: ValueError where there are Vulkan devices and none or several are meant, or the one meant is
 * not usable; NoDeviceError where there is no Vulkan device at all and something else than the host is meant. */
int dml_device_named(const dml_state *state, PyObject *object, dml_choice *choice);

/* The device where none is named: that of dml_device_set_default, else of DMLOPS_DEVICE, else the best Vulkan device;
 * NoDeviceError if there is none. It may be automatic. */
int dml_device_default(const dml_state *state, dml_choice *choice);

/* Whether that is the host or automatic. Loads no driver. */
bool dml_device_default_may_be_host(void);

/* An automatic choice becomes the best Vulkan device, or the host where there is none: for arrays that stay on a device. */
int dml_device_settle(const dml_state *state, dml_choice *choice);

/* dml_device_named, or dml_device_default if `object` is None, settled. */
int dml_device_from(const dml_state *state, PyObject *object, dml_choice *choice);

/* Function of dmlops._core: the argument `device=` of fused functions where none is given: "auto", or None where a default was
 * chosen. */
PyObject *dml_automatic_default(PyObject *module, PyObject *none);

/* Function of dmlops._core: (the default device, settled; whether it is automatic). */
PyObject *dml_default_device(PyObject *module, PyObject *none);

/* Function of dmlops._core: whether a call with that `device=`, or None, between NumPy's arrays may run on the host. */
PyObject *dml_may_be_host(PyObject *module, PyObject *object);

/* Function of dmlops._core: makes an argument `device=` the default; None ends that. */
PyObject *dml_set_default_device(PyObject *module, PyObject *object);

/* Function of dmlops._core: whether the host is the default in this thread, whatever it is in others. */
PyObject *dml_set_host_here(PyObject *module, PyObject *object);

/* Functions of dmlops._core for `python -m dmlops`, which says where devices come from; they are in drivers.c. */

/* How devices were looked for: a list of (whether directly in a driver, path of loader or driver, why it gave none), and for
 * each Vulkan device the position of its way there. */
PyObject *dml_ways(PyObject *module, PyObject *none);

/* Opens the driver of a given path without the loader: (its path, why it gives no device, list of dmlops.Device). A bad driver
 * may end the process. */
PyObject *dml_probe_driver(PyObject *module, PyObject *library);

#endif
