#include "core/op_slice_grad.h"

dml_code dml_slice_grad_shape(const dml_tensor *gradient, const dml_ints *output_shape, const dml_slice_args *args,
                              dml_tensor *result, dml_status *status)
{
    dml_tensor window;
    if (dml_check_entries("output_shape", output_shape, "gradient", gradient->rank, status))
        return status->code;
    *result = *gradient;
    for (int k = 0; k < gradient->rank; k++) {
        if (dml_check_least("output_shape", output_shape, k, 0, status))
            return status->code;
        result->shape[k] = output_shape->value[k];
    }
    if (dml_slice_shape(result, args, &window, status))
        return status->code;
    for (int k = 0; k < gradient->rank; k++) {
        int64_t size = gradient->shape[k], most = window.shape[k], least = most > 0;
        if (size < least || size > most)
            return dml_fail(
                status, DML_VALUE_ERROR,
                "gradient must have a size in [%lld, %lld] on axis %d (sizes[%d] is %lld, strides[%d] is %lld); got "
                "%lld",
                (long long)least, (long long)most, k, k, (long long)args->sizes->value[k], k,
                (long long)(args->strides ? args->strides->value[k] : 1), (long long)size);
    }
    dml_tensor_pack(result);
    return DML_OK;
}

void dml_slice_grad_program(const dml_tensor *gradient, const dml_slice_args *args, const dml_tensor *result,
                            dml_window *window, dml_program *program)
{
    for (int k = 0; k < gradient->rank; k++) {
        window->step[k] = args->strides ? args->strides->value[k] : 1;
        window->count[k] = gradient->shape[k];
        window->first[k] = args->offsets->value[k] + (window->step[k] < 0 ? args->sizes->value[k] - 1 : 0);
    }
    dml_window_program(program, window, gradient, result);
}
