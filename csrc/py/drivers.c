#include "py/device_choice.h"

#include "py/errors.h"
#include "vk/vk.h"

static PyObject *way_new(const dml_way *way)
{
    return Py_BuildValue("NNN", PyBool_FromLong(way->direct), PyUnicode_DecodeFSDefault(way->library), dml_text(way->reason));
}

PyObject *dml_ways(PyObject *module, PyObject *Py_UNUSED(none))
{
    dml_status status;
    int count = dml_device_count(dml_state_of(module), &status);
    PyObject *ways = count < 0 ? NULL : PyList_New(0), *of_devices = ways ? PyList_New(0) : NULL;
    int failed = of_devices ? 0 : -1;
    dml_device_info info;
    dml_way way;
    for (int k = 0; !failed && dml_vk_way(k, &way); k++)
        failed = dml_append(ways, way_new(&way));
    for (int k = 0; !failed && k < count; k++) {
        dml_device_look(k, &info);
        failed = dml_append(of_devices, PyLong_FromLong(info.way));
    }
    PyObject *both = failed ? NULL : PyTuple_Pack(2, ways, of_devices);
    Py_XDECREF(of_devices);
    Py_XDECREF(ways);
    return both;
}

PyObject *dml_probe_driver(PyObject *module, PyObject *library)
{
    static dml_probe probe; /* under the GIL */
    PyObject *path;
    if (!PyUnicode_FSConverter(library, &path))
        return NULL;
    dml_vk_probe(PyBytes_AsString(path), &probe);
    Py_DECREF(path);
    PyObject *devices = PyList_New(0);
    int failed = devices ? 0 : -1;
    for (int k = 0; !failed && k < probe.count; k++)
        failed = dml_append(devices, dml_device_new(dml_state_of(module), k, &probe.devices[k]));
    PyObject *path_found = failed ? NULL : PyUnicode_DecodeFSDefault(probe.way.library);
    PyObject *all = path_found ? Py_BuildValue("NNO", path_found, dml_text(probe.way.reason), devices) : NULL;
    Py_XDECREF(devices);
    return all;
}
