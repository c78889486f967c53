#include "py/entry_points.h"

#include "core/op_blocks.h"
#include "core/op_join.h"
#include "core/op_padding.h"
#include "core/op_reverse.h"
#include "core/op_slice.h"
#include "core/op_slice_grad.h"
#include "core/op_split.h"
#include "core/op_tile.h"
#include "core/op_transpose.h"
#include "core/op_upsample.h"
#include "py/arguments.h"
#include "py/arrays.h"
#include "py/call.h"
#include "py/convert.h"
#include "py/errors.h"
#include "py/fill.h"
#include "py/lengths.h"

PyObject *dml_py_slice(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_ints offsets, sizes, strides, output_sizes;
    if (dml_call_begin(&call, module, count, 7) < 0 || dml_call_convert(&call, "input", args[0], args[5], args[6]) < 0 ||
        dml_ints_from(args[1], "offsets", &offsets) < 0 || dml_ints_from(args[2], "sizes", &sizes) < 0 ||
        (args[3] != Py_None && dml_ints_from(args[3], "strides", &strides) < 0) ||
        (args[4] != Py_None && dml_ints_from(args[4], "output_sizes", &output_sizes) < 0))
        return dml_call_fail(&call);
    dml_slice_args slice = {
        .offsets = &offsets,
        .sizes = &sizes,
        .strides = args[3] != Py_None ? &strides : NULL,
        .output_sizes = args[4] != Py_None ? &output_sizes : NULL,
        .of = "input",
    };
    if (dml_call_describe(&call) < 0 || dml_slice_shape(&call.one.source, &slice, &call.one.target, &call.status) ||
        dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_slice_plan(&call.one.source, &slice, &call.one.target, &call.plan);
    return dml_call_run_plan(&call);
}

/* `blocks` is the argument that has an entry per spatial axis. */
static int layout_from(PyObject *object, const char *blocks, bool *channels_last)
{
    static const char *const layouts[] = {"NCHW", "NHWC"}, *const images[] = {"CHW", "HWC"};
    for (int k = 0; k < 2; k++)
        if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, images[k]) == 0) {
            PyErr_Format(PyExc_ValueError,
                         "layout must be \"NCHW\" or \"NHWC\", not %R; for an image without a batch axis pass layout=\"N%s\" "
                         "and a sequence of blocks, as %s=(2, 2)",
                         object, images[k], blocks);
            return -1;
        }
    int index;
    int failed = dml_word_from(object, "layout", layouts, 2, &index);
    *channels_last = !failed && index == 1;
    return failed;
}

static PyObject *move_blocks(PyObject *module, PyObject *const *args, Py_ssize_t count, bool to_space)
{
    dml_call call;
    dml_ints blocks;
    int order;
    static const char *const orders[] = {"DCR", "CRD"};
    dml_block_args block = {.block_size = &blocks, .to_space = to_space};
    if (dml_call_begin(&call, module, count, 6) < 0 || dml_call_convert(&call, "input", args[0], args[4], args[5]) < 0 ||
        dml_int_or_ints_from(args[1], "block_size", &blocks, &block.single) < 0 ||
        dml_word_from(args[2], "order", orders, 2, &order) < 0 || layout_from(args[3], "block_size", &block.channels_last) < 0)
        return dml_call_fail(&call);
    block.crd = order == 1;
    if (dml_call_describe(&call) < 0 || dml_block_shape(&call.one.source, &block, &call.one.target, &call.status) ||
        dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_block_plan(&call.one.source, &block, &call.one.target, &call.plan);
    return dml_call_run_plan(&call);
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
    int rank = call->one.source.rank;
    dml_array_describe(lengths, tensor);
    reverse->batch_axis = -1;
    reverse->length_rank = tensor->rank;
    reverse->length_shape = tensor->shape;
    if (dml_normalize_axis("axis", axis, rank, &reverse->axis, &call->status) ||
        (batch_axis && dml_normalize_axis("batch_axis", *batch_axis, rank, &reverse->batch_axis, &call->status)))
        return call->status.code;
    return dml_reverse_shape(&call->one.source, reverse, &call->one.target, &call->status);
}

PyObject *dml_py_reverse_subsequences(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    int64_t axis = 0, batch_axis = 0;
    dml_tensor tensor;
    PyObject *lengths = NULL;
    if (dml_call_begin(&call, module, count, 6) < 0 || dml_call_convert(&call, "input", args[0], args[4], args[5]) < 0 ||
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
    int64_t extent = failed ? 0 : call.one.source.shape[reverse.axis];
    failed = failed || (host && dml_lengths_gather(&call, lengths, extent) < 0) || dml_call_open(&call) < 0 ||
             (!host && dml_lengths_gather(&call, lengths, extent) < 0);
    Py_DECREF(lengths);
    if (failed)
        return dml_call_fail(&call);
    dml_reverse_plan(&call.one.source, &reverse, call.lengths, &call.one.target, &call.plan);
    return dml_call_run_plan(&call);
}

PyObject *dml_py_padding(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    static const char *const modes[DML_PADDING_MODES] = {"constant", "edge", "reflection", "symmetric", "wrap"};
    dml_call call;
    dml_ints start, end;
    int mode;
    if (dml_call_begin(&call, module, count, 7) < 0 || dml_call_convert(&call, "input", args[0], args[5], args[6]) < 0 ||
        dml_ints_from(args[1], "start_padding", &start) < 0 || dml_ints_from(args[2], "end_padding", &end) < 0 ||
        dml_word_from(args[3], "mode", modes, DML_PADDING_MODES, &mode) < 0 || dml_fill_from(&call, args[4]) < 0)
        return dml_call_fail(&call);
    const dml_padding_args args_of = {&start, &end, (dml_padding_mode)mode};
    dml_padding padding;
    if (dml_call_describe(&call) < 0 || dml_padding_shape(&call.one.source, &args_of, &call.one.target, &call.status) ||
        dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_padding_program(&call.one.source, &args_of, &call.one.target, &padding, &call.program);
    return dml_call_run(&call);
}

PyObject *dml_py_tile(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_ints repeats;
    if (dml_call_begin(&call, module, count, 4) < 0 || dml_call_convert(&call, "input", args[0], args[2], args[3]) < 0 ||
        dml_ints_from(args[1], "repeats", &repeats) < 0 || dml_call_describe(&call) < 0 ||
        dml_tile_shape(&call.one.source, &repeats, &call.one.target, &call.status) || dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_tile_plan(&call.one.source, &repeats, &call.one.target, &call.plan);
    return dml_call_run_plan(&call);
}

PyObject *dml_py_transpose(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_ints given, *axes = args[1] == Py_None ? NULL : &given;
    if (dml_call_begin(&call, module, count, 4) < 0 || dml_call_convert(&call, "input", args[0], args[2], args[3]) < 0 ||
        (axes && dml_ints_from(args[1], "axes", axes) < 0) || dml_call_describe(&call) < 0 ||
        dml_transpose_shape(&call.one.source, axes, &call.one.target, &call.status) || dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_transpose_plan(&call.one.source, axes, &call.one.target, &call.plan);
    return dml_call_run_plan(&call);
}

PyObject *dml_py_upsample(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_ints scale;
    dml_upsample_args upsample = {.scale_size = &scale};
    if (dml_call_begin(&call, module, count, 5) < 0 || dml_call_convert(&call, "input", args[0], args[3], args[4]) < 0 ||
        dml_int_or_ints_from(args[1], "scale_size", &scale, &upsample.single) < 0 ||
        layout_from(args[2], "scale_size", &upsample.channels_last) < 0 || dml_call_describe(&call) < 0 ||
        dml_upsample_shape(&call.one.source, &upsample, &call.one.target, &call.status) || dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_upsample_plan(&call.one.source, &upsample, &call.one.target, &call.plan);
    return dml_call_run_plan(&call);
}

PyObject *dml_py_slice_grad(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_ints shape, offsets, sizes, strides;
    if (dml_call_begin(&call, module, count, 7) < 0 || dml_call_convert(&call, "gradient", args[0], args[5], args[6]) < 0 ||
        dml_ints_from(args[1], "output_shape", &shape) < 0 || dml_ints_from(args[2], "offsets", &offsets) < 0 ||
        dml_ints_from(args[3], "sizes", &sizes) < 0 || (args[4] != Py_None && dml_ints_from(args[4], "strides", &strides) < 0))
        return dml_call_fail(&call);
    const dml_slice_args slice = {
        .offsets = &offsets, .sizes = &sizes, .strides = args[4] != Py_None ? &strides : NULL, .of = "the result"};
    dml_window window;
    if (dml_call_describe(&call) < 0 || dml_fill_zero(&call) < 0 ||
        dml_slice_grad_shape(&call.one.source, &shape, &slice, &call.one.target, &call.status) || dml_call_open(&call) < 0)
        return dml_call_fail(&call);
    dml_slice_grad_program(&call.one.source, &slice, &call.one.target, &window, &call.program);
    return dml_call_run(&call);
}

/* The result, or NULL with an exception set, is passed on; `begin` of the parts is freed. */
static PyObject *end_parts(dml_call *call, dml_parts *parts, bool failed)
{
    PyObject *result = failed ? dml_call_fail(call) : dml_call_run(call);
    PyMem_Free(parts->begin);
    return result;
}

PyObject *dml_py_join(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_parts parts = {.begin = NULL};
    int64_t axis;
    bool failed = dml_call_begin(&call, module, count, 4) < 0 || dml_call_convert_inputs(&call, args[0]) < 0 ||
                  dml_call_convert_output(&call, args[2]) < 0 || dml_call_convert_device(&call, args[3]) < 0 ||
                  dml_int_from(args[1], "axis", &axis) < 0 || dml_call_describe(&call) < 0;
    parts.begin = failed ? NULL : PyMem_Malloc((size_t)call.input_count * sizeof *parts.begin);
    if (!failed && !parts.begin)
        PyErr_NoMemory();
    failed = !parts.begin || dml_join_shape(call.sources, call.input_count, axis, &parts, call.targets, &call.status) ||
             dml_call_open(&call) < 0;
    if (!failed)
        dml_join_program(&call.program, &parts, call.sources, call.input_count, call.targets);
    return end_parts(&call, &parts, failed);
}

PyObject *dml_py_split(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    dml_call call;
    dml_parts parts = {.begin = NULL};
    int64_t axis, pieces;
    bool failed = dml_call_begin(&call, module, count, 5) < 0 || dml_call_convert_input(&call, "input", args[0]) < 0 ||
                  dml_int_from(args[1], "axis", &axis) < 0 ||
                  dml_int_list_from(args[2], "output_axis_sizes", &parts.begin, &pieces) < 0 ||
                  dml_call_convert_outputs(&call, args[3], pieces) < 0 || dml_call_convert_device(&call, args[4]) < 0 ||
                  dml_call_describe(&call) < 0 ||
                  dml_split_shape(call.sources, axis, &parts, pieces, call.targets, &call.status) || dml_call_open(&call) < 0;
    if (!failed)
        dml_split_program(&call.program, &parts, call.sources, call.targets, pieces);
    return end_parts(&call, &parts, failed);
}
