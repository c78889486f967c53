#include "py/state.h"

enum { MEMBERS = sizeof(dml_state) / sizeof(PyObject *) };

dml_state *dml_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

int dml_state_traverse(PyObject *module, visitproc visit, void *arg)
{
    PyObject **members = PyModule_GetState(module);
    for (int k = 0; members && k < MEMBERS; k++)
        Py_VISIT(members[k]);
    return 0;
}

int dml_state_clear(PyObject *module)
{
    PyObject **members = PyModule_GetState(module);
    for (int k = 0; members && k < MEMBERS; k++)
        Py_CLEAR(members[k]);
    return 0;
}
