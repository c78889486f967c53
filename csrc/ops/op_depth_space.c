/* depth_to_space and space_to_depth are mirror images: one side is deep, with many channels, the other wide. */
#include "ops/operator.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE, ORDER, LAYOUT };
static const dml_enumerator orders[] = {"DCR", "CRD", NULL};

static dml_code block_shape(const dml_program *program, dml_ints *blocks, dml_ints *layout, dml_status *status)
{
    const dml_tensor *input = program->inputs;
    bool to_space = program->op == &dml_op_depth_to_space;
    if (dml_spread_factors(blocks, layout, input->rank, status) ||
        dml_multiply_entries(blocks, &blocks->value[layout->value[0]], status))
        return status->code;
    for (int k = 0; k < input->rank; k++) {
        bool is_channel = k == layout->value[0], shrinks = is_channel == to_space;
        int64_t before = input->shape[k], by = blocks->value[k], *size = &program->results->shape[k];
        *size = shrinks ? before / by : before;
        if (!shrinks && dml_multiply_axis(blocks->name, by, k, size, status))
            return status->code;
        if (shrinks && before % by != 0 && is_channel)
            return dml_fail(status, DML_VALUE_ERROR,
                            "input has %lld channels (axis %d), which is not divisible by %lld, the product of block_size",
                            (long long)before, k, (long long)by);
        if (shrinks && before % by != 0)
            return dml_fail(status, DML_VALUE_ERROR, "input's spatial axis %d has size %lld, not divisible by block_size %lld",
                            k, (long long)before, (long long)by);
    }
    return DML_OK;
}

/* An input that the other layout would fit is told of it. */
static dml_code shape(dml_program *program, dml_status *status)
{
    dml_ints blocks = program->args[BLOCK_SIZE], layout = program->args[LAYOUT];
    int64_t other = layout.value[0] = !layout.value[0];
    dml_status ignored;
    if (!block_shape(program, &program->args[BLOCK_SIZE], &program->args[LAYOUT], status))
        return DML_OK;
    size_t length = strlen(status->message);
    if (!block_shape(program, &blocks, &layout, &ignored))
        snprintf(status->message + length, sizeof status->message - length, "; channels %s? layout=\"%s\"",
                 other ? "last" : "first", dml_layouts[other]);
    return status->code;
}

static void make(const dml_program *program, int64_t index, dml_step *step)
{
    (void)index;
    bool to_space = program->op == &dml_op_depth_to_space;
    const dml_tensor *deep = to_space ? program->inputs : program->results,
                     *wide = to_space ? program->results : program->inputs;
    const int64_t *blocks = program->args[BLOCK_SIZE].value, channel = program->args[LAYOUT].value[0];
    int64_t crd = program->args[ORDER].value[0], channels = wide->shape[channel], stride = deep->strides[channel];
    /* From one index in a block to the next lie all later blocks, and in DCR the channels as well. */
    int64_t inner = stride * blocks[channel] * (crd ? 1 : channels);
    dml_plan_add(&step->plan, channels, crd ? stride * blocks[channel] : stride, wide->strides[channel]);
    for (int k = 0; k < wide->rank; k++) {
        if (k == channel)
            continue;
        inner /= blocks[k];
        dml_plan_add(&step->plan, deep->shape[k], deep->strides[k], blocks[k] * wide->strides[k]);
        dml_plan_add(&step->plan, blocks[k], inner, wide->strides[k]);
    }
    if (!to_space)
        dml_plan_turn(&step->plan);
}

#define BLOCK_OPERATOR                                                                                                         \
    {                                                                                                                          \
        .input = "input",                                                                                                      \
        .parameters = {[BLOCK_SIZE] = {.name = "block_size", .kind = DML_ARG_INT_OR_INTS},                                     \
                       [ORDER] = {.name = "order", .kind = DML_ARG_ENUM, .enumerators = orders},                               \
                       [LAYOUT] = {.name = "layout", .kind = DML_ARG_LAYOUT, .enumerators = dml_layouts}},                     \
        .shape = shape,                                                                                                        \
        .make = make,                                                                                                          \
    }
const dml_operator dml_op_depth_to_space = BLOCK_OPERATOR, dml_op_space_to_depth = BLOCK_OPERATOR;
