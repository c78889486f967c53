#include "ops/operator.h"

typedef long long ll;

enum { OFFSETS, SIZES, STRIDES, OUTPUT_SIZES };

static dml_code shape(dml_program *program, dml_status *status)
{
    const dml_tensor *input = program->inputs;
    const dml_ints *args = program->args, *sizes = &args[OUTPUT_SIZES];
    int64_t *extents = program->results->shape;
    if (dml_check_slice(args, input, "input", extents, status))
        return status->code;
    for (int k = 0; k < input->rank && sizes->given; k++) {
        int64_t most = extents[k], least = most > 0;
        extents[k] = sizes->value[k];
        if (extents[k] < least || extents[k] > most)
            return dml_fail(status, DML_VALUE_ERROR,
                            "output_sizes[%d] must be in [%lld, %lld] (sizes[%d] is %lld, strides[%d] is %lld); got %lld", k,
                            (ll)least, (ll)most, k, (ll)args[SIZES].value[k], k,
                            (ll)(args[STRIDES].given ? args[STRIDES].value[k] : 1), (ll)extents[k]);
    }
    return DML_OK;
}

/* The result is an inset of the input: its plan is what would set it in, turned. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    const dml_tensor *input = program->inputs, *result = program->results;
    for (int k = 0; k < input->rank; k++) {
        dml_index_map map = dml_slice_map(program->args, k, result->shape[k]);
        if (input->shape[k] == 1)
            map.first = 0; /* NumPy's stride of such an axis may be anything */
        dml_plan_add_map(&step->plan, &map, result->strides[k], input->strides[k]);
    }
    dml_plan_turn(&step->plan);
}

/* Without output_sizes, the result is all that is reachable. */
const dml_operator dml_op_slice = {
    .input = "input",
    .parameters = {[OFFSETS] = {.name = "offsets", .kind = DML_ARG_INTS},
                   [SIZES] = {.name = "sizes", .kind = DML_ARG_INTS},
                   [STRIDES] = {.name = "strides", .kind = DML_ARG_INTS, .optional = true},
                   [OUTPUT_SIZES] = {.name = "output_sizes", .kind = DML_ARG_INTS, .optional = true}},
    .shape = shape,
    .make = make,
};
