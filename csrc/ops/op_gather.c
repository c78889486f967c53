#include "ops/operator.h"

#include <string.h>

typedef long long ll;

enum { INDICES, AXIS, BATCH, MODE };
enum { TAKE, ALONG, TUPLES };

/* Which axes of the input are gathered; how many axes of the indices are before those of the result, and how many of all the
 * result has. */
typedef struct geometry {
    int first, count;
    int batch, used;
} geometry;

static geometry geometry_of(const dml_program *program)
{
    const dml_ints *args = program->args, *indices = &args[INDICES];
    const int batch = (int)args[BATCH].value[0], used = (int)indices->count;
    if (args[MODE].value[0] == TUPLES)
        return (geometry){batch, (int)indices->value[used - 1], batch, used - 1};
    return (geometry){(int)args[AXIS].value[0], 1, batch, used};
}

/* --- shapes --------------------------------------------------------------------------------------------------------- */

static dml_code check_batch(const dml_program *program, int most, dml_status *status)
{
    const dml_ints *indices = &program->args[INDICES];
    const dml_tensor *input = program->inputs;
    int64_t batch = program->args[BATCH].value[0];
    if (batch < 0 || batch > most)
        return dml_fail(status, DML_VALUE_ERROR, "batch_dims must be in [0, %d]; got %lld", most, (ll)batch);
    for (int k = 0; k < batch; k++)
        if (indices->value[k] != input->shape[k])
            return dml_fail(status, DML_VALUE_ERROR,
                            "indices must have size %lld on axis %d, a batch axis, as input has; got %lld", (ll)input->shape[k],
                            k, (ll)indices->value[k]);
    return DML_OK;
}

static dml_code check_tuples(const dml_program *program, dml_status *status)
{
    const dml_ints *indices = &program->args[INDICES];
    const int rank = program->inputs->rank;
    if (indices->count < 1)
        return dml_fail(status, DML_VALUE_ERROR, "indices must have an axis, the last one, of a tuple's entries");
    if (check_batch(program, (int)dml_smaller(indices->count - 1, rank), status))
        return status->code;
    int64_t batch = program->args[BATCH].value[0], size = indices->value[indices->count - 1];
    if (size > rank - batch)
        return dml_fail(status, DML_VALUE_ERROR,
                        "tuples of indices must have at most %lld entries, one for each axis of input%s; got %lld",
                        (ll)(rank - batch), batch > 0 ? " behind the batch axes" : "", (ll)size);
    return DML_OK;
}

static dml_code shape_along(dml_program *program, dml_status *status)
{
    const dml_ints *indices = &program->args[INDICES];
    const dml_tensor *input = program->inputs;
    const int axis = (int)program->args[AXIS].value[0];
    if (indices->count != input->rank)
        return dml_fail(status, DML_VALUE_ERROR, "indices must have input's rank, %d; got rank %lld", input->rank,
                        (ll)indices->count);
    for (int k = 0; k < input->rank; k++) {
        int64_t size = indices->value[k], dim = input->shape[k];
        if (k != axis && size != dim && size != 1 && dim != 1)
            return dml_fail(status, DML_VALUE_ERROR, "indices must have size %lld or 1 on axis %d, as input has; got %lld",
                            (ll)dim, k, (ll)size);
        program->results->shape[k] = k == axis || dim == 1 ? size : dim;
    }
    return DML_OK;
}

/* Batch axes, those of the input before the gathered ones, the indices', and the input's behind. */
static dml_code shape_outer(dml_program *program, dml_status *status)
{
    const dml_tensor *input = program->inputs;
    dml_tensor *result = program->results;
    const geometry g = geometry_of(program);
    const int own = g.used - g.batch, rest = input->rank - g.first - g.count;
    if (g.first + own + rest > DML_MAX_RANK)
        return dml_fail(status, DML_VALUE_ERROR, "the result would have rank %d; %d is the most", g.first + own + rest,
                        DML_MAX_RANK);
    result->rank = g.first + own + rest;
    memcpy(result->shape + g.first, program->args[INDICES].value + g.batch, (size_t)own * sizeof result->shape[0]);
    memcpy(result->shape + g.first + own, input->shape + g.first + g.count, (size_t)rest * sizeof result->shape[0]);
    return DML_OK;
}

static bool some(const int64_t *shape, int64_t rank)
{
    for (int64_t k = 0; k < rank; k++)
        if (shape[k] == 0)
            return false;
    return true;
}

/* Whether an index is looked at, as NumPy has it: numpy.take looks at none where an axis before the gathered one is empty,
 * numpy.take_along_axis at none where the result is. */
static bool looks(const dml_program *program)
{
    const dml_ints *args = program->args;
    if (args[MODE].value[0] == ALONG)
        return some(program->results->shape, program->results->rank);
    return some(args[INDICES].value, args[INDICES].count) &&
           (args[MODE].value[0] == TUPLES || some(program->inputs->shape, args[AXIS].value[0]));
}

static dml_code shape(dml_program *program, dml_status *status)
{
    const dml_ints *args = program->args;
    const dml_tensor *input = program->inputs;
    if (args[MODE].value[0] == ALONG)
        shape_along(program, status);
    else if (args[MODE].value[0] == TUPLES)
        check_tuples(program, status);
    else
        check_batch(program, (int)dml_smaller(args[AXIS].value[0], args[INDICES].count), status);
    if (status->code || (args[MODE].value[0] != ALONG && shape_outer(program, status)))
        return status->code;
    const geometry g = geometry_of(program);
    for (int k = g.first; k < g.first + g.count && looks(program); k++)
        if (input->shape[k] == 0)
            return dml_fail(status, DML_INDEX_ERROR, "axis %d of input has size 0: it has no element for an index", k);
    return DML_OK;
}

/* --- the plan ------------------------------------------------------------------------------------------------------- */

static void add_axis(const dml_program *program, dml_plan *plan, int64_t src_stride, int64_t entry_stride)
{
    const int k = plan->rank;
    dml_plan_add(plan, program->results->shape[k], src_stride, program->results->strides[k]);
    plan->axes[k].entry_stride = entry_stride;
}

static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_tensor *input = program->inputs;
    const dml_ints *indices = &program->args[INDICES];
    const geometry g = geometry_of(program);
    const bool along = program->args[MODE].value[0] == ALONG;
    dml_plan *plan = &step->plan;
    int64_t strides[DML_MAX_RANK] = {0};
    dml_entry_strides(program, indices, strides);
    for (int k = 0; k < input->rank && along; k++) {
        bool repeats = k == g.first || input->shape[k] == 1;
        add_axis(program, plan, repeats ? 0 : input->strides[k], indices->value[k] == 1 ? 0 : strides[k]);
    }
    for (int k = 0; k < g.first && !along; k++)
        add_axis(program, plan, input->strides[k], k < g.batch ? strides[k] : 0);
    for (int k = g.batch; k < g.used && !along; k++)
        add_axis(program, plan, 0, strides[k]);
    for (int k = g.first + g.count; k < input->rank && !along; k++)
        add_axis(program, plan, input->strides[k], 0);
    plan->entries = program->entries;
    plan->gathered = looks(program) ? g.count : 0;
    for (int k = 0; k < g.count; k++)
        plan->gathers[k] = (dml_gathered){.extent = input->shape[g.first + k],
                                          .count = input->shape[g.first + k],
                                          .src_stride = input->strides[g.first + k],
                                          .entry_offset = k > 0 ? k * strides[indices->count - 1] : 0};
}

static const dml_enumerator modes[] = {"take", "along", "tuples", NULL};

/* As numpy.take has it, numpy.take_along_axis, and ONNX's GatherND. */
const dml_operator dml_op_gather = {
    .input = "input",
    .parameters = {[INDICES] = {.name = "indices", .kind = DML_ARG_INDICES},
                   [AXIS] = {.name = "axis", .kind = DML_ARG_AXIS, .optional = true},
                   [BATCH] = {.name = "batch_dims", .kind = DML_ARG_INT},
                   [MODE] = {.name = "mode", .kind = DML_ARG_ENUM, .enumerators = modes}},
    .shape = shape,
    .make = make,
};
