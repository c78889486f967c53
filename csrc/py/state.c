#include "py/state.h"

dml_state *dml_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

int dml_state_traverse(PyObject *module, visitproc visit, void *arg)
{
    dml_state *state = dml_state_of(module);
    if (!state)
        return 0;
    Py_VISIT(state->vulkan_error);
    Py_VISIT(state->out_of_device_memory_error);
    Py_VISIT(state->device_lost_error);
    Py_VISIT(state->no_device_error);
    Py_VISIT(state->axis_error);
    Py_VISIT(state->device_type);
    Py_VISIT(state->memory_info_type);
    Py_VISIT(state->device_array_type);
    Py_VISIT(state->memory_handler);
    Py_VISIT(state->numpy_dlpack_version);
    return 0;
}

int dml_state_clear(PyObject *module)
{
    dml_state *state = dml_state_of(module);
    if (!state)
        return 0;
    Py_CLEAR(state->vulkan_error);
    Py_CLEAR(state->out_of_device_memory_error);
    Py_CLEAR(state->device_lost_error);
    Py_CLEAR(state->no_device_error);
    Py_CLEAR(state->axis_error);
    Py_CLEAR(state->device_type);
    Py_CLEAR(state->memory_info_type);
    Py_CLEAR(state->device_array_type);
    Py_CLEAR(state->memory_handler);
    Py_CLEAR(state->numpy_dlpack_version);
    return 0;
}
