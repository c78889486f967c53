#include "resampling/resampling.h"

#include <float.h>
#include <math.h>

#include "resampling/weight_rules.h"

/* What a mode does where both axes are resized; one of them may turn out to stay as it is. */
typedef struct mode {
    int32_t columns, rows; /* rules */
    dml_number between;
    dml_sum first, last;
} mode;

static const mode linear = {
    .columns = DML_RULE_OPENCV_LINEAR,
    .rows = DML_RULE_OPENCV_LINEAR_ROWS,
    .between = DML_UINT16,
    .first = {.kind = DML_SUM_SHIFT, .shift = 4},
    .last = {.kind = DML_SUM_FLOORS, .shift = 16},
};
static const mode exact = {
    .columns = DML_RULE_OPENCV_LINEAR_EXACT,
    .rows = DML_RULE_OPENCV_LINEAR_EXACT,
    .between = DML_UINT16,
    .first = {.kind = DML_SUM_SHIFT},
    .last = {.kind = DML_SUM_CLIP, .shift = 16},
};
static const mode enlarged = {
    .columns = DML_RULE_OPENCV_ENLARGED,
    .rows = DML_RULE_OPENCV_ENLARGED_ROWS,
    .between = DML_UINT16,
    .first = {.kind = DML_SUM_SHIFT, .shift = 4},
    .last = {.kind = DML_SUM_FLOORS, .shift = 16},
};
static const mode area = {
    .columns = DML_RULE_OPENCV_AREA,
    .rows = DML_RULE_OPENCV_AREA,
    .between = DML_FLOAT32,
    .first = {.kind = DML_SUM_FLOAT},
    .last = {.kind = DML_SUM_ROUND},
};
static const mode cubic = {
    .columns = DML_RULE_OPENCV_CUBIC,
    .rows = DML_RULE_OPENCV_CUBIC_ROWS,
    .between = DML_INT32,
    .first = {.kind = DML_SUM_SHIFT},
    .last = {.kind = DML_SUM_CUBIC, .shift = 22},
};
static const mode lanczos4 = {
    .columns = DML_RULE_OPENCV_LANCZOS4,
    .rows = DML_RULE_OPENCV_LANCZOS4,
    .between = DML_INT32,
    .first = {.kind = DML_SUM_SHIFT},
    .last = {.kind = DML_SUM_CLIP, .shift = 22},
};

/* Outputs for each input: the caller's, or the sizes' quotient. */
static double factor_of(const dml_resampling_request *request, int axis)
{
    return request->from[axis] > 0.0 ? request->from[axis] : (double)request->outputs[axis] / (double)request->inputs[axis];
}

static dml_weights_key key_of(const dml_resampling_request *request, int axis, int32_t rule, double from)
{
    return (dml_weights_key){rule, 0, request->inputs[axis], request->outputs[axis], from, 0.0};
}

/* Columns, then rows, but for an axis that stays. */
static dml_code add_passes(const dml_resampling_request *request, const mode *by, dml_resampling *resampling,
                           dml_status *status)
{
    dml_code code = DML_OK;
    for (int axis = DML_COLUMNS_AXIS; axis >= 0 && !code; axis--) {
        const dml_weights_key key =
            key_of(request, axis, axis == DML_COLUMNS_AXIS ? by->columns : by->rows, factor_of(request, axis));
        code = dml_resampling_pass(resampling, axis, &key, status);
        if (!code && resampling->weights[resampling->passes - 1]->identity)
            dml_weights_release(resampling->weights[--resampling->passes]);
    }
    resampling->first = by->first;
    resampling->between = by->between;
    return code;
}

/* The sum that makes the result. A pass that is left out would have multiplied by a weight of one, and shifted. */
static dml_sum last_of(const mode *by, const dml_resampling *resampling)
{
    dml_sum sum = by->last;
    if (resampling->passes == 1 && sum.kind == DML_SUM_FLOORS) {
        if (resampling->axes[0] == DML_COLUMNS_AXIS)
            sum.kind = DML_SUM_CLIP; /* rows of one weight floor once */
        sum.shift = resampling->axes[0] == DML_COLUMNS_AXIS ? 11 : 9;
    } else if (resampling->passes == 1) {
        sum.shift -= by->last.shift / 2;
    }
    return sum;
}

/* OpenCV's vectors make 8 items of a row in float32; it makes those behind them in integers. */
static void cubic_parts(const dml_resampling_request *request, dml_resampling *resampling, const dml_sum *sum)
{
    const int64_t rows = request->outputs[0], columns = request->outputs[1], items = request->items;
    const int64_t vectors = columns * items / 8 * 8, column = vectors / items, item = vectors % items;
    const int64_t behind = item > 0 ? column + 1 : column;
    const dml_sum rest = {.kind = DML_SUM_CLIP, .shift = sum->shift};
    dml_resampling_part(resampling, (int64_t[]){0, 0, 0}, (int64_t[]){rows, column, INT64_MAX}, sum);
    dml_resampling_part(resampling, (int64_t[]){0, column, 0}, (int64_t[]){rows, behind, item}, sum);
    dml_resampling_part(resampling, (int64_t[]){0, column, item}, (int64_t[]){rows, behind, INT64_MAX}, &rest);
    dml_resampling_part(resampling, (int64_t[]){0, behind, 0}, (int64_t[]){rows, columns, INT64_MAX}, &rest);
}

static dml_code by_mode(const dml_resampling_request *request, const mode *by, dml_resampling *resampling, dml_status *status)
{
    dml_code code = add_passes(request, by, resampling, status);
    const dml_sum sum = last_of(by, resampling);
    const int64_t begin[3] = {0}, end[3] = {request->outputs[0], request->outputs[1], INT64_MAX};
    if (by == &cubic)
        cubic_parts(request, resampling, &sum);
    else
        dml_resampling_part(resampling, begin, end, &sum);
    return code;
}

/* --- blocks of whole factors -------------------------------------------------------------------------------------------- */

/* Inputs of a block for each output, if they are a whole number; else 0. */
static int64_t whole_factor(const dml_resampling_request *request, int axis)
{
    const double scale = 1.0 / factor_of(request, axis), whole = rint(scale);
    return fabs(scale - whole) < DBL_EPSILON ? (int64_t)whole : 0;
}

/* OpenCV has a loop of its own for halves of these, which rounds up where the mean lies between two integers. Of others, and
 * of other factors, the mean is a float, which becomes even there. */
static bool halves_round_up(int64_t items)
{
    return items == 1 || items == 3 || items == 4;
}

/* Blocks at the end of an axis have fewer inputs where fx or fy have rounded the size up. */
static dml_sum mean_of(const int64_t factors[2], int64_t count, int64_t items)
{
    const int64_t whole = factors[0] * factors[1];
    if (count < whole)
        return (dml_sum){.kind = DML_SUM_OVER, .factor = (float)count};
    if (factors[0] == 2 && factors[1] == 2 && halves_round_up(items))
        return (dml_sum){.kind = DML_SUM_CLIP, .shift = 2};
    return (dml_sum){.kind = DML_SUM_TIMES, .factor = 1.0F / (float)whole};
}

/* Blocks of 2 x 2, all of them whole, whose sums are shifted: kernels for sums of two taps make them. */
static bool has_short_sums(const dml_resampling_request *request, const int64_t factors[2])
{
    bool short_sums = halves_round_up(request->items);
    for (int axis = 0; axis < 2; axis++)
        short_sums = short_sums && factors[axis] == 2 && request->inputs[axis] == 2 * request->outputs[axis];
    return short_sums;
}

static dml_code by_blocks(const dml_resampling_request *request, const int64_t factors[2], dml_resampling *resampling,
                          dml_status *status)
{
    dml_code code = DML_OK;
    for (int axis = DML_COLUMNS_AXIS; axis >= 0 && !code; axis--) {
        const dml_weights_key key = key_of(request, axis, DML_RULE_BLOCKS, (double)factors[axis]);
        if (factors[axis] > 1 || request->inputs[axis] != request->outputs[axis])
            code = dml_resampling_pass(resampling, axis, &key, status);
    }
    resampling->first.kind = DML_SUM_SHIFT;
    resampling->between = has_short_sums(request, factors) ? DML_UINT16 : DML_INT32;
    dml_resampling_blocks(resampling, request, factors, mean_of);
    return code;
}

/* --- the modes ---------------------------------------------------------------------------------------------------------- */

dml_code dml_resampling_opencv(const dml_resampling_request *request, dml_resampling *resampling, dml_status *status)
{
    const int64_t factors[2] = {whole_factor(request, 0), whole_factor(request, 1)};
    const bool whole = factors[0] > 0 && factors[1] > 0, halves = factors[0] == 2 && factors[1] == 2;
    const bool shrunk = 1.0 / factor_of(request, 0) >= 1.0 && 1.0 / factor_of(request, 1) >= 1.0;
    if (request->inputs[0] == request->outputs[0] && request->inputs[1] == request->outputs[1])
        return DML_OK;
    switch ((dml_opencv_mode)request->filter) {
    case DML_OPENCV_LINEAR:
        return halves ? by_blocks(request, factors, resampling, status) : by_mode(request, &linear, resampling, status);
    case DML_OPENCV_LINEAR_EXACT:
        return halves && request->items != 2 ? by_blocks(request, factors, resampling, status)
                                             : by_mode(request, &exact, resampling, status);
    case DML_OPENCV_AREA:
        if (!shrunk)
            return by_mode(request, &enlarged, resampling, status);
        return whole ? by_blocks(request, factors, resampling, status) : by_mode(request, &area, resampling, status);
    case DML_OPENCV_CUBIC:
        return by_mode(request, &cubic, resampling, status);
    case DML_OPENCV_LANCZOS4:
        break;
    }
    return by_mode(request, &lanczos4, resampling, status);
}
