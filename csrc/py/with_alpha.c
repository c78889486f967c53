#include "py/resampling_capsule.h"

#include "host/host_resize.h"
#include "py/arrays.h"
#include "py/result_memory.h"

PyObject *dml_with_alpha(PyObject *module, PyObject *args)
{
    PyObject *array;
    int multiplies;
    dml_tensor tensor;
    if (!PyArg_ParseTuple(args, "O!p:_with_alpha", &PyArray_Type, &array, &multiplies) || dml_memory_ready() < 0)
        return NULL;
    Py_INCREF(array);
    PyObject *result = NULL;
    if (dml_make_private(&array) == 0) {
        dml_array_describe(array, &tensor);
        if (tensor.rank < 2 || PyArray_DESCR((PyArrayObject *)array)->type_num != NPY_UINT8) {
            PyErr_SetString(PyExc_TypeError, "array must have bytes, and two axes or more");
        } else {
            result = dml_result_new(dml_state_of(module), PyArray_DESCR((PyArrayObject *)array), &tensor);
        }
    }
    if (result) {
        const void *src = PyArray_DATA((PyArrayObject *)array);
        void *dst = PyArray_DATA((PyArrayObject *)result);
        Py_BEGIN_ALLOW_THREADS;
        dml_alpha_run(&tensor, src, dst, multiplies);
        Py_END_ALLOW_THREADS;
    }
    Py_DECREF(array);
    return result;
}
