#include "core/op_upsample.h"

/* The first spatial axis; there are as many as there are factors. */
static int first_spatial(int rank, const dml_upsample_args *args)
{
    int spatial = args->single ? rank - 2 : (int)args->scale_size->count;
    return rank - spatial - args->channels_last;
}

/* By how much axis k grows. */
static int64_t scale_of(int rank, const dml_upsample_args *args, int k)
{
    int first = first_spatial(rank, args);
    if (k < first || k >= rank - args->channels_last)
        return 1;
    return args->scale_size->value[args->single ? 0 : k - first];
}

dml_code dml_upsample_shape(const dml_tensor *input, const dml_upsample_args *args, dml_tensor *result, dml_status *status)
{
    if (dml_check_spatial("scale_size", args->scale_size, args->single, input->rank, status))
        return status->code;
    for (int k = 0; k < (int)args->scale_size->count; k++)
        if (args->scale_size->value[k] < 1)
            return dml_fail(status, DML_VALUE_ERROR, "scale_size must be at least 1; got %lld",
                            (long long)args->scale_size->value[k]);
    *result = *input;
    for (int k = 0; k < input->rank; k++)
        if (dml_multiply_axis("scale_size", scale_of(input->rank, args, k), k, &result->shape[k], status))
            return status->code;
    dml_tensor_pack(result);
    return DML_OK;
}

/* Two axes each: the input's, and the copies of each of its elements. */
void dml_upsample_plan(const dml_tensor *input, const dml_upsample_args *args, const dml_tensor *result, dml_plan *plan)
{
    dml_plan_begin(plan, input->item);
    for (int k = 0; k < input->rank; k++) {
        int64_t scale = scale_of(input->rank, args, k);
        dml_plan_add(plan, input->shape[k], input->strides[k], scale * result->strides[k]);
        dml_plan_add(plan, scale, 0, result->strides[k]);
    }
}
