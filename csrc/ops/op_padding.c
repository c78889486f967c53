#include "ops/operator.h"

enum { START, END, MODE, VALUE };
enum { CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP };
static const dml_enumerator modes[] = {"constant", "edge", "reflection", "symmetric", "wrap", NULL};
enum { MOST_MAPS = 4 }; /* on an axis: the first, which may be cut short, then two that are repeated in turn, and the last */

/* The maps of the result's axis k, one or more: how many. With a constant it is where the input goes. */
static int64_t find_maps(const dml_program *program, int k, dml_index_map *maps)
{
    int64_t mode = program->args[MODE].value[0], start = program->args[START].value[k], size = program->inputs->shape[k];
    int64_t all = program->results->shape[k], period = 0, at = 0, end = 0, count = 0;
    maps[0] = (dml_index_map){start, size, 1, 0, 1, 1, 0};
    if (mode == CONSTANT || all == size)
        return 1;
    if (mode != EDGE && size > 1 && size <= INT64_MAX / 4) /* the input, then what it is backwards if it does not wrap */
        period = mode == WRAP ? size : 2 * (size - (mode == REFLECTION));
    do {
        int64_t i = period > 0 ? ((at - start) % period + period) % period : at - start;
        dml_index_map *map = &maps[count++];
        if (i >= 0 && i < size)
            *map = (dml_index_map){at, size - i, 1, i, 1, 1, period};
        else if (period > 0)
            *map = (dml_index_map){at, period - i, 1, period - i - (mode == SYMMETRIC), -1, 1, period};
        else
            *map = (dml_index_map){at, i < 0 ? -i : all - at, 1, i < 0 ? 0 : size - 1, 0, 1, 0};
        map->extent = map->extent < all - at ? map->extent : all - at;
        map->times += count > 1 && period > 0 ? (all - at - map->extent) / period : 0;
        int64_t reach = at + (map->times - 1) * period + map->extent;
        end = reach > end ? reach : end;
        at = count < 3 && map->extent < period ? at + map->extent : end;
    } while (at < all);
    return count;
}

static dml_code shape(dml_program *program, dml_status *status)
{
    uint64_t steps = 1; /* wraps only where the shape is so large that it is refused later */
    for (int k = 0; k < program->inputs->rank; k++) {
        int64_t start = program->args[START].value[k], end = program->args[END].value[k], *size = &program->results->shape[k];
        dml_index_map maps[MOST_MAPS];
        if (start > INT64_MAX - *size || end > INT64_MAX - *size - start)
            return dml_fail(status, DML_VALUE_ERROR, "start_padding[%d] and end_padding[%d] are too large: their sum overflows",
                            k, k);
        if (*size == 0 && start + end > 0 && program->args[MODE].value[0] != CONSTANT)
            return dml_fail(status, DML_VALUE_ERROR,
                            "mode must be \"constant\" where an empty axis is padded; input's axis %d is", k);
        *size += start + end;
        steps *= (uint64_t)find_maps(program, k, maps);
    }
    program->count = program->args[MODE].value[0] == CONSTANT ? dml_inset_steps(program->results) : (int64_t)steps;
    return DML_OK;
}

/* With a constant, the input is an inset. Else a step is a map of each axis, and its index counts their combinations. */
static void make(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_tensor *input = program->inputs, *result = program->results;
    dml_index_map maps[DML_MAX_RANK + MOST_MAPS];
    for (int k = 0; k < result->rank; k++) {
        int64_t count = find_maps(program, k, &maps[k]);
        if (program->args[MODE].value[0] != CONSTANT)
            dml_plan_add_map(&step->plan, &maps[k + index % count], input->strides[k], result->strides[k]);
        index /= count;
    }
    if (program->args[MODE].value[0] == CONSTANT)
        dml_inset_step(program, maps, index, step);
}

/* As numpy.pad has it: a reflection does not repeat the edge. */
const dml_operator dml_op_padding = {
    .input = "input",
    .fills = true,
    .parameters = {[START] = {.name = "start_padding", .kind = DML_ARG_INTS, .natural = true},
                   [END] = {.name = "end_padding", .kind = DML_ARG_INTS, .natural = true},
                   [MODE] = {.name = "mode", .kind = DML_ARG_ENUM, .enumerators = modes},
                   [VALUE] = {.name = "value", .kind = DML_ARG_ITEM}},
    .shape = shape,
    .make = make,
};
