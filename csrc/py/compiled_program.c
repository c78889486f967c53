#include "py/compiled_program.h"

#include <string.h>

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/errors.h"
#include "py/explain.h"

#define PROGRAM_NAME "dmlops.program"

enum { STEP_INTS = 8, AXIS_INTS = 6 };

static void destroy(dml_compiled_program *program)
{
    dml_compiled *compiled = &program->compiled;
    Py_XDECREF(program->dtypes);
    Py_XDECREF(program->constants);
    PyMem_Free(compiled->steps);
    PyMem_Free(compiled->axes);
    PyMem_Free(compiled->inputs);
    PyMem_Free(compiled->results);
    PyMem_Free(program);
}

static void destroy_capsule(PyObject *capsule)
{
    destroy(PyCapsule_GetPointer(capsule, PROGRAM_NAME));
}

/* No array is kept: there is no memory behind those that describe, and the garbage collector shows them to anybody. */
static int read_arrays(dml_compiled_program *program, PyObject *arrays, Py_ssize_t inputs)
{
    dml_compiled *compiled = &program->compiled;
    const Py_ssize_t count = PyTuple_Size(arrays);
    program->dtypes = PyList_New(0);
    compiled->inputs = dml_zeroed(count, sizeof *compiled->inputs);
    compiled->results = dml_zeroed(count, sizeof *compiled->results);
    if (!program->dtypes || !compiled->inputs || !compiled->results)
        return -1;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *array = dml_array_described(PyTuple_GetItem(arrays, k), "array");
        if (!array)
            return -1;
        if (k < inputs)
            dml_array_describe(array, &compiled->inputs[compiled->input_count++]);
        else
            dml_array_describe(array, &compiled->results[compiled->result_count++]);
        int failed = PyList_Append(program->dtypes, (PyObject *)dml_array_dtype(array));
        Py_DECREF(array);
        if (failed)
            return -1;
    }
    return 0;
}

static int read_steps(dml_compiled *compiled, const char *bytes, Py_ssize_t size)
{
    int64_t count = size / (int64_t)sizeof(int64_t), at = 0, axes = 0;
    int64_t *ints = dml_zeroed(count, sizeof *ints);
    compiled->steps = dml_zeroed(count / STEP_INTS, sizeof *compiled->steps);
    compiled->axes = dml_zeroed(count / AXIS_INTS, sizeof *compiled->axes);
    bool read = ints && compiled->steps && compiled->axes;
    if (read)
        memcpy(ints, bytes, (size_t)count * sizeof *ints);
    while (read && at + STEP_INTS <= count) {
        const int64_t *step = ints + at, axis_count = step[7];
        at += STEP_INTS;
        if (axis_count < 0 || axis_count > (count - at) / AXIS_INTS)
            break;
        compiled->steps[compiled->count++] =
            (dml_compiled_step){step[0], step[1], step[2], step[3], step[4], step[5], step[6], axis_count, axes};
        for (int64_t k = 0; k < axis_count; k++, at += AXIS_INTS)
            memcpy(&compiled->axes[axes++], ints + at, AXIS_INTS * sizeof *ints);
    }
    PyMem_Free(ints);
    if (read && at != count)
        PyErr_SetString(PyExc_ValueError, "steps must be whole");
    return read && at == count ? 0 : -1;
}

PyObject *dml_compile(PyObject *module, PyObject *args)
{
    PyObject *arrays, *steps, *constants;
    Py_ssize_t inputs, variants = 1;
    dml_status status = {.code = DML_OK};
    if (!PyArg_ParseTuple(args, "O!nSS|n:_compile", &PyTuple_Type, &arrays, &inputs, &steps, &constants, &variants))
        return NULL;
    dml_compiled_program *program = dml_zeroed(1, sizeof *program);
    if (!program)
        return NULL;
    Py_INCREF(constants);
    program->constants = constants;
    program->compiled.variants = variants;
    program->compiled.constants = PyBytes_AsString(constants);
    program->compiled.constant_bytes = PyBytes_Size(constants);
    PyObject *capsule = NULL;
    if (read_arrays(program, arrays, inputs) < 0 ||
        read_steps(&program->compiled, PyBytes_AsString(steps), PyBytes_Size(steps)) < 0 ||
        dml_compiled_check(&program->compiled, &status))
        dml_raise(dml_state_of(module), &status);
    else
        capsule = PyCapsule_New(program, PROGRAM_NAME, destroy_capsule);
    if (!capsule)
        destroy(program);
    return capsule;
}

const dml_compiled_program *dml_compiled_from(PyObject *program)
{
    return PyCapsule_GetPointer(program, PROGRAM_NAME);
}

static PyArray_Descr *dtype_of(const dml_compiled_program *program, int64_t index)
{
    return (PyArray_Descr *)PyList_GetItem(program->dtypes, (Py_ssize_t)index);
}

PyArray_Descr *dml_compiled_dtype(const dml_compiled_program *program, int64_t result)
{
    return dtype_of(program, program->compiled.input_count + result);
}

static PyObject *step_tuple(const dml_step *step)
{
    const dml_plan *plan = &step->plan;
    const int64_t entries = dml_plan_has_table(plan) ? plan->entries.offset : -1;
    return Py_BuildValue("LLLLLLN", (long long)step->src, (long long)step->dst, (long long)plan->item,
                         (long long)plan->src_offset, (long long)plan->dst_offset, (long long)entries, dml_explain_axes(plan));
}

int dml_compiled_selections(const dml_compiled_program *program, PyObject *bytes, const dml_selection **selections,
                            dml_status *status)
{
    *selections = NULL;
    if (bytes == Py_None)
        return 0;
    if (!PyBytes_Check(bytes)) {
        PyErr_SetString(PyExc_TypeError, "selections must be bytes or None");
        return -1;
    }
    *selections = (const void *)PyBytes_AsString(bytes); /* whose data are aligned to 8 bytes at least */
    int64_t count = (int64_t)PyBytes_Size(bytes) / (int64_t)sizeof **selections;
    return dml_compiled_check_selections(&program->compiled, *selections, count, status) ? -1 : 0;
}

PyObject *dml_compiled_steps(PyObject *module, PyObject *args)
{
    PyObject *object, *bytes;
    const dml_selection *selections;
    dml_status status = {.code = DML_OK};
    if (!PyArg_ParseTuple(args, "OO:_compiled_steps", &object, &bytes))
        return NULL;
    const dml_compiled_program *compiled = dml_compiled_from(object);
    if (!compiled || dml_compiled_selections(compiled, bytes, &selections, &status) < 0)
        return dml_raise(dml_state_of(module), &status);
    dml_tensor *results = dml_zeroed(compiled->compiled.result_count, sizeof *results);
    PyObject *list = results ? PyList_New(0) : NULL;
    dml_program program = {.results = results};
    dml_step step;
    if (list)
        dml_compiled_describe(&compiled->compiled, selections, &program);
    for (int64_t i = 0; list && i < program.count; i++) {
        dml_program_step(&program, i, &step);
        dml_plan_simplify(&step.plan);
        if (dml_append(list, step_tuple(&step)) < 0)
            Py_CLEAR(list);
    }
    PyMem_Free(results);
    return list;
}

int dml_compiled_check_input(const dml_compiled_program *program, int64_t index, PyObject *array, const char *name)
{
    const dml_tensor *known = &program->compiled.inputs[index];
    dml_tensor tensor;
    dml_array_describe(array, &tensor);
    bool same = tensor.rank == known->rank && PyArray_EquivTypes(dml_array_dtype(array), dtype_of(program, index));
    bool strided = !dml_tensor_is_empty(known);
    for (int k = 0; same && k < known->rank; k++)
        same =
            tensor.shape[k] == known->shape[k] && (!strided || known->shape[k] == 1 || tensor.strides[k] == known->strides[k]);
    if (same)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s has changed its shape, strides or dtype during the call", name);
    return -1;
}
