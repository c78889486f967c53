#include "py/explain.h"

#include "device/backend.h"
#include "kernels/cost.h"
#include "kernels/formula_words.h"
#include "kernels/kernel_list.h"
#include "kernels/table_stages.h"
#include "kernels/walk.h"
#include "py/device_cost.h"
#include "vk/vk.h"

enum { MOST_STEPS = 256, MOST_PIECES = 256 };

int dml_explain_traits(const dml_state *state, PyObject *device, dml_traits *traits, dml_choice *choice, dml_status *status)
{
    bool text = PyUnicode_Check(device);
    bool cpu = text && PyUnicode_CompareWithASCIIString(device, "cpu-class") == 0;
    if (cpu || (text && PyUnicode_CompareWithASCIIString(device, "gpu-class") == 0)) {
        *traits = dml_traits_of_class(cpu ? &dml_tunables_cpu : &dml_tunables_gpu);
        *choice = dml_host;
        return 0;
    }
    dml_context *context;
    if (dml_device_from(state, device, choice) < 0)
        return -1;
    if (dml_backend_of(choice) == &dml_host_backend) {
        PyErr_SetString(PyExc_ValueError, "device=\"host\" runs no kernels: it copies item by item");
        return -1;
    }
    if (dml_vk_context(choice->index, &context, status))
        return -1;
    *traits = *dml_vk_traits(context);
    return 0;
}

PyObject *dml_explain_axes(const dml_plan *plan)
{
    PyObject *axes = PyList_New(0);
    for (int k = 0; axes && k < plan->rank; k++) {
        const dml_axis *axis = &plan->axes[k];
        if (dml_append(axes, Py_BuildValue("LLLL", (long long)axis->extent, (long long)axis->src_stride,
                                           (long long)axis->dst_stride, (long long)axis->entry_stride)) < 0)
            Py_CLEAR(axes);
    }
    return axes;
}

static PyObject *plan_tuple(const dml_plan *plan)
{
    return Py_BuildValue("LLNi", (long long)plan->item, (long long)plan->src_offset, dml_explain_axes(plan), plan->reversed);
}

static PyObject *piece_dict(const dml_piece *piece, const dml_dispatch *dispatch)
{
    const dml_kernel_info *kernel = &dml_kernel_list[dispatch->kernel];
    const dml_invocation made = kernel->describe ? kernel->describe(dispatch) : (dml_invocation){0};
    const dml_table *table = &dispatch->table;
    const int32_t *c = dispatch->constants;
    return Py_BuildValue("{s:s,s:s,s:N,s:L,s:i,s:i,s:i,s:i,s:i,s:i,s:I,s:I,s:I,s:i,s:i}", "kernel", kernel->name, "reason",
                         dispatch->reason, "plan", plan_tuple(&piece->plan), "tile_bytes", (long long)made.tile, "scalar_bytes",
                         c[DML_SCALAR], "word_bytes", made.word, "alignment", made.alignment, "rows_per_window",
                         made.per_window, "rows_per_workgroup", made.per_group, "group_size", c[DML_GROUP_SIZE],
                         "prefetch_lines", table->rows_prefetch_lines, "chunks", table->chunks, "groups", dispatch->groups,
                         "segment_bits", c[DML_SEGMENT_BITS], "prefetch_ahead", made.ahead);
}

/* A list of dicts; a new reference, or NULL with an exception set. */
static PyObject *list_pieces(const dml_plan *plan, const dml_traits *traits, uint64_t src_base)
{
    dml_limits limits = dml_split_limits(traits);
    PyObject *pieces = PyList_New(0);
    dml_walk walk;
    dml_piece piece;
    dml_dispatch dispatch;
    dml_walk_begin(&walk, plan, traits, &limits, src_base, 0);
    while (pieces && PyList_Size(pieces) < MOST_PIECES && dml_walk_next(&walk, &piece, &dispatch))
        if (dml_append(pieces, piece_dict(&piece, &dispatch)) < 0)
            Py_CLEAR(pieces);
    return pieces;
}

static PyObject *step_tuple(dml_step *step, const dml_traits *traits, PyObject *const *inputs)
{
    dml_plan_simplify(&step->plan);
    uint64_t src_base = step->src < 0 ? 0 : (uint64_t)(uintptr_t)PyArray_BYTES((PyArrayObject *)inputs[step->src]);
    PyObject *pieces = list_pieces(&step->plan, traits, src_base);
    if (!pieces)
        return NULL;
    PyObject *src = step->src == DML_FILL ? Py_BuildValue("") : PyLong_FromLongLong(step->src);
    return Py_BuildValue("NLNN", src, (long long)step->dst, plan_tuple(&step->plan), pieces);
}

static PyObject *list_steps(const dml_program *program, const dml_traits *traits, PyObject *const *inputs)
{
    PyObject *steps = PyList_New(0);
    dml_step step;
    for (int64_t i = 0; i < program->count && steps && PyList_Size(steps) < MOST_STEPS; i++) {
        dml_program_step(program, i, &step);
        if (dml_plan_count(&step.plan) > 0 && dml_append(steps, step_tuple(&step, traits, inputs)) < 0)
            Py_CLEAR(steps);
    }
    return steps;
}

PyObject *dml_explain_program(const dml_program *program, const dml_traits *traits, const dml_choice *choice,
                              PyObject *const *inputs)
{
    dml_table_stages stages;
    const bool staged = dml_table_stages_begin(program, &traits->tunables, &stages);
    const bool lacks = choice->host ? program->formulas && !dml_formula_words_suffice(program, traits->tunables.dynamic)
                                    : dml_device_lacks(choice, program);
    PyObject *steps =
        lacks && program->formulas ? PyList_New(0) : list_steps(staged ? &stages.program : program, traits, inputs);
    const double on_host = dml_cost(program, NULL), on_device = lacks ? Py_HUGE_VAL : dml_cost(program, &traits->tunables);
    return steps ? Py_BuildValue("Ndd", steps, on_host, on_device) : NULL;
}
