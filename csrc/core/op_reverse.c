#include "core/op_reverse.h"

typedef long long ll;

dml_code dml_reverse_shape(const dml_tensor *input, const dml_reverse_args *args, dml_tensor *output, dml_status *status)
{
    if (args->batch_axis >= 0) {
        int64_t batches = input->shape[args->batch_axis];
        if (args->batch_axis == args->axis)
            return dml_fail(status, DML_VALUE_ERROR, "batch_axis must differ from axis; both are %d", args->axis);
        if (args->length_rank != 1)
            return dml_fail(status, DML_VALUE_ERROR, "sequence_lengths must be 1-D where batch_axis is given; got rank %d",
                            args->length_rank);
        if (args->length_shape[0] != batches)
            return dml_fail(status, DML_VALUE_ERROR,
                            "sequence_lengths must have %lld entries, the size of input's axis %d (batch_axis); got %lld",
                            (ll)batches, args->batch_axis, (ll)args->length_shape[0]);
    } else {
        if (args->length_rank != input->rank)
            return dml_fail(status, DML_VALUE_ERROR,
                            "sequence_lengths must have input's rank, %d (or batch_axis must be given); got rank %d",
                            input->rank, args->length_rank);
        for (int k = 0; k < input->rank; k++) {
            int64_t size = args->length_shape[k], dim = input->shape[k];
            if (k == args->axis && size != 1)
                return dml_fail(status, DML_VALUE_ERROR,
                                "sequence_lengths must have size 1 on axis %d, the one reversed; got %lld", k, (ll)size);
            if (k != args->axis && size != dim && size != 1)
                return dml_fail(status, DML_VALUE_ERROR,
                                "sequence_lengths must have size %lld or 1 on axis %d, as input has; got %lld", (ll)dim, k,
                                (ll)size);
        }
    }
    *output = *input;
    dml_tensor_pack(output);
    return DML_OK;
}

void dml_reverse_plan(const dml_tensor *input, const dml_reverse_args *args, const int64_t *lengths, const dml_tensor *output,
                      dml_plan *plan)
{
    dml_plan_begin(plan, input->item);
    for (int k = 0; k < input->rank; k++)
        dml_plan_add(plan, input->shape[k], input->strides[k], output->strides[k]);
    plan->reversed = args->axis;
    plan->lengths = lengths;
    int64_t entries = 1;
    for (int k = args->length_rank - 1; k >= 0; k--) {
        if (args->length_shape[k] > 1)
            plan->axes[args->batch_axis >= 0 ? args->batch_axis : k].length_stride = entries;
        entries *= args->length_shape[k];
    }
}
