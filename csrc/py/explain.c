#include "py/explain.h"

#include <string.h>

#include "core/choose.h"
#include "core/operators.h"
#include "core/split.h"
#include "py/arguments.h"
#include "py/backend.h"
#include "py/device_choice.h"
#include "py/errors.h"
#include "vk/vk.h"

enum { MOST_PIECES = 256 };

/* A call of an operator; those of its own arguments that it does not have are None. */
typedef struct call {
    const char *name;
    dml_tensor input;
    dml_tensor output;
    PyObject *own[4];
    dml_plan plan;
    dml_status status;
} call;

static int slice_plan(call *call)
{
    static const char *const names[4] = {"offsets", "sizes", "strides", "output_sizes"};
    dml_ints ints[4], *given[4] = {NULL};
    for (int i = 0; i < 4; i++) {
        if (i >= 2 && call->own[i] == Py_None)
            continue;
        given[i] = &ints[i];
        if (dml_ints_from(call->own[i], names[i], given[i]) < 0)
            return -1;
    }
    dml_slice_args args = {.offsets = given[0], .sizes = given[1], .strides = given[2], .output_sizes = given[3]};
    if (dml_slice_shape(&call->input, &args, &call->output, &call->status))
        return -1;
    dml_slice_plan(&call->input, &args, &call->output, &call->plan);
    return 0;
}

static int block_plan(call *call)
{
    dml_ints blocks;
    dml_block_args args = {.block_size = &blocks, .to_space = strcmp(call->name, "depth_to_space") == 0};
    if (dml_int_or_ints_from(call->own[0], "block_size", &blocks, &args.single) < 0 ||
        dml_word_from(call->own[1], "order", "DCR", "CRD", &args.crd) < 0 ||
        dml_word_from(call->own[2], "layout", "NCHW", "NHWC", &args.channels_last) < 0 ||
        dml_block_shape(&call->input, &args, &call->output, &call->status))
        return -1;
    dml_block_plan(&call->input, &args, &call->output, &call->plan);
    return 0;
}

static int reverse_plan(call *call)
{
    dml_ints shape;
    dml_reverse_args args = {.batch_axis = -1, .length_shape = shape.value};
    int64_t axis, batch_axis = 0;
    bool batch = call->own[2] != Py_None;
    if (dml_ints_from(call->own[0], "sequence_lengths", &shape) < 0 || dml_int_from(call->own[1], "axis", &axis) < 0 ||
        (batch && dml_int_from(call->own[2], "batch_axis", &batch_axis) < 0))
        return -1;
    int rank = call->input.rank;
    args.length_rank = (int)shape.count;
    if (dml_normalize_axis("axis", axis, rank, &args.axis, &call->status) ||
        (batch && dml_normalize_axis("batch_axis", batch_axis, rank, &args.batch_axis, &call->status)) ||
        dml_reverse_shape(&call->input, &args, &call->output, &call->status))
        return -1;
    dml_reverse_plan(&call->input, &args, NULL, &call->output, &call->plan);
    return 0;
}

static int plan_from(call *call, PyObject *shape)
{
    dml_ints ints;
    if (dml_ints_from(shape, "shape", &ints) < 0)
        return -1;
    call->input.rank = (int)(ints.count < DML_MAX_RANK ? ints.count : DML_MAX_RANK);
    memcpy(call->input.shape, ints.value, sizeof ints.value);
    dml_tensor_pack(&call->input);
    if (strcmp(call->name, "slice") == 0)
        return slice_plan(call);
    return strcmp(call->name, "reverse_subsequences") == 0 ? reverse_plan(call) : block_plan(call);
}

static int traits_from(const dml_state *state, PyObject *device, dml_traits *traits, dml_status *status)
{
    bool text = PyUnicode_Check(device);
    bool cpu = text && PyUnicode_CompareWithASCIIString(device, "cpu-class") == 0;
    if (cpu || (text && PyUnicode_CompareWithASCIIString(device, "gpu-class") == 0)) {
        *traits = dml_traits_of_class(cpu ? &dml_tunables_cpu : &dml_tunables_gpu);
        return 0;
    }
    dml_choice choice;
    dml_context *context;
    if (dml_device_from(state, device, &choice) < 0)
        return -1;
    if (dml_backend_of(&choice) == &dml_host_backend) {
        PyErr_SetString(PyExc_ValueError, "device=\"host\" runs no kernels: it copies item by item");
        return -1;
    }
    if (dml_vk_context(choice.index, &context, status))
        return -1;
    *traits = *dml_vk_traits(context);
    return 0;
}

static PyObject *plan_tuple(const dml_plan *plan)
{
    PyObject *axes = PyList_New(0);
    for (int k = 0; axes && k < plan->rank; k++) {
        const dml_axis *axis = &plan->axes[k];
        PyObject *item = Py_BuildValue("LLLL", (long long)axis->extent, (long long)axis->src_stride,
                                       (long long)axis->dst_stride, (long long)axis->length_stride);
        if (!item || PyList_Append(axes, item) < 0)
            Py_CLEAR(axes);
        Py_XDECREF(item);
    }
    return Py_BuildValue("LLNi", (long long)plan->item, (long long)plan->src_offset, axes, plan->reversed);
}

static PyObject *piece_dict(const dml_piece *piece, const dml_dispatch *dispatch)
{
    static const char *const kernels[DML_KERNEL_COUNT] = {"copy", "rows", "words", "elements"};
    const dml_table *table = &dispatch->table;
    const int32_t *c = dispatch->constants;
    bool rows = dispatch->kernel == DML_KERNEL_ROWS;
    int64_t tile = c[DML_SCALAR];
    if (rows)
        tile =
            (int64_t)c[DML_ROWS_TILE] * c[DML_ROWS_ITEM] * c[DML_ROWS_EXTENT_0] * c[DML_ROWS_EXTENT_1] * c[DML_ROWS_EXTENT_2];
    if (dispatch->kernel == DML_KERNEL_WORDS)
        tile = 16 * (int64_t)c[DML_WORDS_TILE];
    return Py_BuildValue("{s:s,s:s,s:N,s:L,s:i,s:i,s:i,s:i,s:i,s:i,s:I,s:I,s:I,s:i,s:i}", "kernel", kernels[dispatch->kernel],
                         "reason", dispatch->reason, "plan", plan_tuple(&piece->plan), "tile_bytes", (long long)tile,
                         "scalar_bytes", c[DML_SCALAR], "word_bytes", rows ? c[DML_ROWS_WORD] : 16, "alignment",
                         rows ? c[DML_ROWS_ALIGN] : 1, "rows_per_window", rows ? c[DML_ROWS_PER_WINDOW] : 1,
                         "rows_per_workgroup", rows && c[DML_ROWS_SCHEDULE] ? c[DML_ROWS_SCHEDULE] : 1, "group_size",
                         c[DML_GROUP_SIZE], "prefetch_lines", table->rows_prefetch_lines, "chunks", table->chunks, "groups",
                         dispatch->groups, "segment_bits", c[DML_SEGMENT_BITS], "prefetch_ahead", rows ? c[DML_ROWS_AHEAD] : 0);
}

PyObject *dml_py_explain(PyObject *module, PyObject *args)
{
    const dml_state *state = dml_state_of(module);
    PyObject *device, *shape;
    long long item;
    dml_traits traits;
    call call = {.own = {Py_None, Py_None, Py_None, Py_None}};
    if (!PyArg_ParseTuple(args, "OsLOO|OOO:_explain", &device, &call.name, &item, &shape, &call.own[0], &call.own[1],
                          &call.own[2], &call.own[3]))
        return NULL;
    call.input.item = item;
    if (plan_from(&call, shape) < 0 || traits_from(state, device, &traits, &call.status) < 0)
        return dml_raise(state, &call.status);
    dml_plan_simplify(&call.plan);
    int64_t binding = traits.binding - traits.alignment;
    dml_limits limits = {.window = traits.window, .binding = binding < traits.window ? binding : traits.window};
    PyObject *pieces = PyList_New(0);
    dml_split split;
    dml_piece piece;
    if (dml_plan_count(&call.plan) > 0)
        dml_split_begin(&split, &call.plan, &limits);
    else
        split.done = true;
    while (pieces && PyList_Size(pieces) < MOST_PIECES && dml_split_next(&split, &piece)) {
        dml_dispatch dispatch;
        if (!piece.cut)
            dml_plan_simplify(&piece.plan);
        dml_dispatch_choose(&piece, &traits, 0, 0, DML_KERNEL_COUNT, &dispatch);
        PyObject *entry = piece_dict(&piece, &dispatch);
        if (!entry || PyList_Append(pieces, entry) < 0)
            Py_CLEAR(pieces);
        Py_XDECREF(entry);
    }
    return pieces ? Py_BuildValue("NN", plan_tuple(&call.plan), pieces) : NULL;
}
