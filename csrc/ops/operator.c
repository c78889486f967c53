#include "ops/operator.h"

typedef long long ll;

const dml_enumerator dml_layouts[] = {"NCHW", "NHWC", NULL};

dml_code dml_normalize_axis(const char *name, int64_t *axis, int rank, dml_status *status)
{
    if (*axis < -rank || *axis >= rank)
        return dml_fail_axis(status, name, *axis, rank);
    *axis += *axis < 0 ? rank : 0;
    return DML_OK;
}

/* The rules that a parameter states. */
static dml_code check_argument(const dml_parameter *parameter, dml_ints *ints, const char *of, int rank, dml_status *status)
{
    if (ints->given && parameter->kind == DML_ARG_AXIS)
        return dml_normalize_axis(ints->name, ints->value, rank, status);
    if (!ints->given || parameter->kind != DML_ARG_INTS)
        return DML_OK;
    if (ints->count != rank)
        return dml_fail(status, DML_VALUE_ERROR, "%s must have one entry per axis of %s: %d, got %lld", ints->name, of, rank,
                        (ll)ints->count);
    for (int k = 0; k < rank && parameter->natural; k++)
        if (ints->value[k] < 0)
            return dml_fail(status, DML_VALUE_ERROR, "%s[%d] must be at least 0; got %lld", ints->name, k, (ll)ints->value[k]);
    return DML_OK;
}

dml_code dml_operator_shape(dml_program *program, dml_status *status)
{
    const dml_operator *op = program->op;
    program->make = op->make;
    program->count = 1;
    for (int i = 0; op->parameters[i].name; i++)
        if (check_argument(&op->parameters[i], &program->args[i], op->input, program->inputs->rank, status))
            return status->code;
    for (int64_t i = 0; i < program->result_count; i++)
        dml_tensor_copy_shape(&program->results[i], program->inputs);
    if (op->shape(program, status))
        return status->code;
    for (int64_t i = 0; i < program->result_count; i++)
        dml_tensor_pack(&program->results[i]);
    return DML_OK;
}

/* --- rules that operators share ---------------------------------------------------------------------------------------- */

/* Checks that there are as many factors as there can be spatial axes. */
static dml_code check_spatial(const dml_ints *factors, int rank, dml_status *status)
{
    const char *name = factors->name;
    ll count = factors->count, value = factors->single ? factors->value[0] : 0;
    if (factors->single && rank < 4)
        return dml_fail(status, DML_VALUE_ERROR,
                        "%s as one int needs an input of rank 4 or more (batch, channels, spatial axes); got rank %d: pass "
                        "%s=(%lld, %lld) for one image without a batch axis, (%lld,) for one spatial axis",
                        name, rank, name, value, value, value);
    if (!factors->single && rank < 2)
        return dml_fail(
            status, DML_VALUE_ERROR,
            "%s must have one entry per spatial axis, so input must have rank 2 or more, with channels; got rank %d", name,
            rank);
    if (!factors->single && (count < 1 || count > rank - 1))
        return dml_fail(status, DML_VALUE_ERROR,
                        "%s must have %s %d %s, one per spatial axis, for an input of rank %d; got %lld", name,
                        rank == 2 ? "exactly" : "1 to", rank - 1, rank == 2 ? "entry" : "entries", rank, count);
    return DML_OK;
}

dml_code dml_spread_factors(dml_ints *factors, dml_ints *layout, int rank, dml_status *status)
{
    const dml_ints given = *factors;
    if (check_spatial(factors, rank, status))
        return status->code;
    int spatial = given.single ? rank - 2 : (int)given.count, first = rank - spatial - (int)layout->value[0];
    layout->value[0] = layout->value[0] ? rank - 1 : first - 1;
    factors->single = false;
    factors->count = rank;
    for (int k = 0; k < rank; k++) {
        int64_t *factor = &factors->value[k];
        *factor = 1;
        if (k >= first && k < first + spatial)
            *factor = given.value[given.single ? 0 : k - first];
        if (*factor < 1)
            return dml_fail(status, DML_VALUE_ERROR, "%s must be at least 1; got %lld", given.name, (ll)*factor);
    }
    return DML_OK;
}

dml_code dml_multiply_entries(const dml_ints *ints, int64_t *product, dml_status *status)
{
    int64_t all = 1;
    for (int64_t k = 0; k < ints->count; k++) {
        if (all > INT64_MAX / ints->value[k])
            return dml_fail(status, DML_VALUE_ERROR, "%s is too large: the product of its entries overflows at %lld",
                            ints->name, (ll)ints->value[k]);
        all *= ints->value[k];
    }
    *product = all;
    return DML_OK;
}

dml_code dml_multiply_axis(const char *name, int64_t by, int axis, int64_t *size, dml_status *status)
{
    if (by > 0 && *size > INT64_MAX / by)
        return dml_fail(status, DML_VALUE_ERROR, "%s is too large: axis %d of size %lld times %lld overflows", name, axis,
                        (ll)*size, (ll)by);
    *size *= by;
    return DML_OK;
}

/* --- slices ------------------------------------------------------------------------------------------------------------- */

enum { OFFSETS, SIZES, STRIDES };

static int64_t stride_of(const dml_ints *args, int k)
{
    return args[STRIDES].given ? args[STRIDES].value[k] : 1;
}

/* Elements a slice of `size` > 0 reaches with a stride; its magnitude may be that of the most negative int64. */
static int64_t reachable(int64_t size, int64_t stride)
{
    uint64_t magnitude = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
    return 1 + (int64_t)((uint64_t)(size - 1) / magnitude);
}

static dml_code check_axis(const dml_ints *args, int k, int64_t dim, const char *name, int64_t *most, dml_status *status)
{
    int64_t offset = args[OFFSETS].value[k], size = args[SIZES].value[k], stride = stride_of(args, k);
    if (offset < 0 || offset > dim)
        return dml_fail(status, DML_VALUE_ERROR, "offsets[%d] must be in [0, %lld], the size of %s's axis %d; got %lld", k,
                        (ll)dim, name, k, (ll)offset);
    if (size < 0 || size > dim - offset)
        return dml_fail(status, DML_VALUE_ERROR,
                        "sizes[%d] must be in [0, %lld] (%s's axis %d has size %lld, offsets[%d] is %lld); got %lld", k,
                        (ll)(dim - offset), name, k, (ll)dim, k, (ll)offset, (ll)size);
    if (stride == 0)
        return dml_fail(status, DML_VALUE_ERROR, "strides[%d] must not be 0", k);
    *most = size > 0 ? reachable(size, stride) : 0;
    return DML_OK;
}

dml_code dml_check_slice(const dml_ints *args, const dml_tensor *tensor, const char *name, int64_t *most, dml_status *status)
{
    for (int k = 0; k < tensor->rank; k++)
        if (check_axis(args, k, tensor->shape[k], name, &most[k], status))
            return status->code;
    return DML_OK;
}

dml_index_map dml_slice_map(const dml_ints *args, int k, int64_t count)
{
    int64_t stride = stride_of(args, k), first = args[OFFSETS].value[k] + (stride < 0 ? args[SIZES].value[k] - 1 : 0);
    return (dml_index_map){.first = first, .extent = count, .stride = stride, .src_stride = 1, .times = 1};
}
