#include "py/resampling_capsule.h"

#include "host/host_lines.h"
#include "py/errors.h"
#include "resampling/weight_rules.h"

#define RESAMPLING_NAME "dmlops.resampling"

static void destroy_capsule(PyObject *capsule)
{
    dml_resampling *resampling = PyCapsule_GetPointer(capsule, RESAMPLING_NAME);
    dml_resampling_release(resampling);
    PyMem_Free(resampling);
}

const dml_resampling *dml_resampling_from(PyObject *resampling)
{
    return PyCapsule_GetPointer(resampling, RESAMPLING_NAME);
}

static int read_request(PyObject *args, dml_resampling_request *request)
{
    int library, newer;
    long long inputs[2], outputs[2], items;
    if (!PyArg_ParseTuple(args, "ii(LL)(LL)(dd)(dd)Lp:_resampling", &library, &request->filter, &inputs[0], &inputs[1],
                          &outputs[0], &outputs[1], &request->from[0], &request->from[1], &request->to[0], &request->to[1],
                          &items, &newer))
        return -1;
    for (int k = 0; k < 2; k++) {
        request->inputs[k] = inputs[k];
        request->outputs[k] = outputs[k];
        if (inputs[k] < 1 || outputs[k] < 1) {
            PyErr_SetString(PyExc_ValueError, "sizes must be 1 or more");
            return -1;
        }
    }
    if (library < DML_PILLOW || library > DML_TORCHVISION || request->filter < 0 || request->filter > DML_FILTER_MKS2021) {
        PyErr_SetString(PyExc_ValueError, "no library has such a filter");
        return -1;
    }
    request->library = (dml_library)library;
    request->items = items;
    request->newer = newer;
    return 0;
}

PyObject *dml_resampling_new(PyObject *module, PyObject *args)
{
    dml_resampling_request request;
    dml_resampling resampling, *made;
    dml_status status = {.code = DML_OK};
    if (read_request(args, &request) < 0)
        return NULL;
    if (dml_resampling_make(&request, &resampling, &status))
        return dml_raise(dml_state_of(module), &status);
    if (resampling.passes == 0)
        Py_RETURN_NONE;
    made = dml_zeroed(1, sizeof *made);
    PyObject *capsule = NULL;
    if (made) {
        *made = resampling;
        capsule = PyCapsule_New(made, RESAMPLING_NAME, destroy_capsule);
    }
    if (!capsule) {
        dml_resampling_release(&resampling);
        PyMem_Free(made);
    }
    return capsule;
}

static PyObject *pass_tuple(const dml_resampling *resampling, int k)
{
    const dml_weights *weights = resampling->weights[k];
    const bool last = k + 1 == resampling->passes;
    const dml_sum *sum = last ? &resampling->parts[0].sum : &resampling->first;
    return Py_BuildValue("iLLiOOiiiy#", resampling->axes[k], (long long)weights->inputs, (long long)weights->taps,
                         (int)weights->shift, weights->is_float ? Py_True : Py_False, weights->inside ? Py_True : Py_False,
                         (int)sum->kind, (int)sum->shift, (int)(last ? DML_UINT8 : resampling->between),
                         (const char *)weights->rows, (Py_ssize_t)(weights->outputs * dml_weights_item(weights)));
}

static PyObject *part_tuple(const dml_resampled_part *part)
{
    const dml_sum *sum = &part->sum;
    return Py_BuildValue("(LLL)(LLL)iiIIf", (long long)part->begin[0], (long long)part->begin[1], (long long)part->begin[2],
                         (long long)part->end[0], (long long)part->end[1], (long long)part->end[2], (int)sum->kind,
                         (int)sum->shift, sum->half, sum->multiplier, (double)sum->factor);
}

PyObject *dml_resampling_described(PyObject *Py_UNUSED(module), PyObject *object)
{
    const dml_resampling *resampling = dml_resampling_from(object);
    PyObject *passes = resampling ? PyList_New(0) : NULL, *parts = passes ? PyList_New(0) : NULL;
    int failed = parts ? 0 : -1;
    for (int k = 0; !failed && k < resampling->passes; k++)
        failed = dml_append(passes, pass_tuple(resampling, k));
    for (int k = 0; !failed && k < resampling->part_count; k++)
        failed = dml_append(parts, part_tuple(&resampling->parts[k]));
    PyObject *pair = failed ? NULL : PyTuple_Pack(2, passes, parts);
    Py_XDECREF(passes);
    Py_XDECREF(parts);
    return pair;
}

/* --- for tests -------------------------------------------------------------------------------------------------------- */

PyObject *dml_resize_kernels(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && dml_lines_kernel_name(i); i++)
        if (dml_append(list, PyUnicode_FromString(dml_lines_kernel_name(i))) < 0)
            Py_CLEAR(list);
    return list;
}

PyObject *dml_resize_by(PyObject *Py_UNUSED(module), PyObject *name)
{
    PyObject *text = name == Py_None ? NULL : PyUnicode_AsUTF8String(name);
    if (!text && name != Py_None)
        return NULL;
    const bool found = dml_lines_start_at(text ? PyBytes_AsString(text) : NULL);
    Py_XDECREF(text);
    if (!found)
        return PyErr_Format(PyExc_ValueError, "no kernel of that name runs here: %S", name);
    Py_RETURN_NONE;
}
