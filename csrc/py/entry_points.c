#include "py/entry_points.h"

#include "py/arguments.h"
#include "py/arrays.h"
#include "py/call.h"
#include "py/errors.h"
#include "py/lengths.h"

PyObject *dml_py_slice(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_ints offsets, sizes, strides, output_sizes;
    if (dml_call_begin(&call, module, count, 7) < 0 || dml_call_convert(&call, args[0], args[5], args[6]) < 0 ||
        dml_ints_from(args[1], "offsets", &offsets) < 0 || dml_ints_from(args[2], "sizes", &sizes) < 0 ||
        (args[3] != Py_None && dml_ints_from(args[3], "strides", &strides) < 0) ||
        (args[4] != Py_None && dml_ints_from(args[4], "output_sizes", &output_sizes) < 0))
        return dml_call_fail(&call);
    dml_slice_args slice = {
        .offsets = &offsets,
        .sizes = &sizes,
        .strides = args[3] != Py_None ? &strides : NULL,
        .output_sizes = args[4] != Py_None ? &output_sizes : NULL,
    };
    if (dml_call_describe(&call) < 0 || dml_slice_shape(&call.source, &slice, &call.target, &call.status) ||
        dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_slice_plan(&call.source, &slice, &call.target, &call.plan);
    return dml_call_run(&call);
}

static int layout_from(PyObject *object, bool *channels_last)
{
    static const char *const images[] = {"HWC", "CHW"};
    for (int k = 0; k < 2; k++)
        if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, images[k]) == 0) {
            PyErr_Format(
                PyExc_ValueError,
                "layout must be \"NCHW\" or \"NHWC\", not %R; for an image without a batch axis pass layout=\"N%s\" and a "
                "sequence of blocks, as block_size=(2, 2)",
                object, images[k]);
            return -1;
        }
    return dml_word_from(object, "layout", "NCHW", "NHWC", channels_last);
}

static PyObject *move_blocks(PyObject *module, PyObject *const *args, Py_ssize_t count, bool to_space)
{
    dml_call call;
    dml_ints blocks;
    dml_block_args block = {.block_size = &blocks, .to_space = to_space};
    if (dml_call_begin(&call, module, count, 6) < 0 || dml_call_convert(&call, args[0], args[4], args[5]) < 0 ||
        dml_int_or_ints_from(args[1], "block_size", &blocks, &block.single) < 0 ||
        dml_word_from(args[2], "order", "DCR", "CRD", &block.crd) < 0 || layout_from(args[3], &block.channels_last) < 0)
        return dml_call_fail(&call);
    if (dml_call_describe(&call) < 0 || dml_block_shape(&call.source, &block, &call.target, &call.status) ||
        dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_block_plan(&call.source, &block, &call.target, &call.plan);
    return dml_call_run(&call);
}

PyObject *dml_py_depth_to_space(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return move_blocks(module, args, count, true);
}

PyObject *dml_py_space_to_depth(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return move_blocks(module, args, count, false);
}

/* Checks the rules of reverse_subsequences: the axes first, then the lengths. */
static dml_code reverse_shape(dml_call *call, PyObject *lengths, int64_t axis, const int64_t *batch_axis,
                              dml_reverse_args *reverse, dml_tensor *tensor)
{
    int rank = call->source.rank;
    dml_array_describe(lengths, tensor);
    reverse->batch_axis = -1;
    reverse->length_rank = tensor->rank;
    reverse->length_shape = tensor->shape;
    if (dml_normalize_axis("axis", axis, rank, &reverse->axis, &call->status) ||
        (batch_axis && dml_normalize_axis("batch_axis", *batch_axis, rank, &reverse->batch_axis, &call->status)))
        return call->status.code;
    return dml_reverse_shape(&call->source, reverse, &call->target, &call->status);
}

PyObject *dml_py_reverse_subsequences(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    int64_t axis = 0, batch_axis = 0;
    dml_tensor tensor;
    PyObject *lengths = NULL;
    if (dml_call_begin(&call, module, count, 6) < 0 || dml_call_convert(&call, args[0], args[4], args[5]) < 0 ||
        !(lengths = dml_lengths_convert(&call, args[1])) || dml_int_from(args[2], "axis", &axis) < 0 ||
        (args[3] != Py_None && dml_int_from(args[3], "batch_axis", &batch_axis) < 0)) {
        Py_XDECREF(lengths);
        return dml_call_fail(&call);
    }
    dml_reverse_args reverse = {.axis = 0};
    bool failed = dml_call_describe(&call) < 0 || dml_make_private(&lengths) < 0 ||
                  reverse_shape(&call, lengths, axis, args[3] != Py_None ? &batch_axis : NULL, &reverse, &tensor);
    bool host =
        PyArray_Check(lengths); /* then lengths are checked before a device is looked for; else the device clamps them */
    int64_t extent = failed ? 0 : call.source.shape[reverse.axis];
    failed = failed || (host && dml_lengths_gather(&call, lengths, extent) < 0) || dml_call_open(&call) < 0 ||
             (!host && dml_lengths_gather(&call, lengths, extent) < 0);
    Py_DECREF(lengths);
    if (failed)
        return dml_call_fail(&call);
    dml_reverse_plan(&call.source, &reverse, call.lengths, &call.target, &call.plan);
    return dml_call_run(&call);
}
