/* What one import of dmlops._core owns. */
#ifndef DML_PY_STATE_H
#define DML_PY_STATE_H

#include "py/python.h"

/* Every member is an owned reference, or NULL. */
typedef struct dml_state {
    PyObject *vulkan_error;
    PyObject *out_of_device_memory_error;
    PyObject *device_lost_error;
    PyObject *no_device_error;
    PyObject *axis_error;      /* numpy.exceptions.AxisError */
    PyObject *device_class;    /* dmlops.Device */
    PyObject *choose_device;   /* dmlops.device.choose */
    PyObject *search_drivers;  /* dmlops.driver_search.search */
    PyObject *lengths_of;      /* dmlops.entries.lengths_of */
    PyObject *negative_length; /* dmlops.entries.negative_length */
    PyObject *wrong_index;     /* dmlops.entries.wrong_index */
    PyObject *item_of;         /* dmlops.scalars.item_of */
    PyObject *element_of;      /* dmlops.scalars.element_of */
    PyObject *dlpack_dtype;    /* dmlops.dlpack.dtype_of */
    PyObject *device_array_type;
    PyObject *memory_handler; /* a capsule: the allocator of array data that NumPy is given */
} dml_state;

static inline dml_state *dml_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

#endif
