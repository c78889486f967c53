#include "core/op_padding.h"

dml_code dml_padding_shape(const dml_tensor *input, const dml_padding_args *args, dml_tensor *result, dml_status *status)
{
    if (dml_check_entries("start_padding", args->start, "input", input->rank, status) ||
        dml_check_entries("end_padding", args->end, "input", input->rank, status))
        return status->code;
    *result = *input;
    for (int k = 0; k < input->rank; k++) {
        if (dml_check_least("start_padding", args->start, k, 0, status) ||
            dml_check_least("end_padding", args->end, k, 0, status))
            return status->code;
        int64_t room = INT64_MAX - input->shape[k], start = args->start->value[k], end = args->end->value[k];
        if (start > room || end > room - start)
            return dml_fail(status, DML_VALUE_ERROR, "start_padding[%d] and end_padding[%d] are too large: their sum overflows",
                            k, k);
        if (input->shape[k] == 0 && start + end > 0 && args->mode != DML_PADDING_CONSTANT)
            return dml_fail(status, DML_VALUE_ERROR,
                            "mode must be \"constant\" where an empty axis is padded; input's axis %d is", k);
        result->shape[k] += start + end;
    }
    dml_tensor_pack(result);
    return DML_OK;
}

static void add_run(dml_padding *padding, int k, dml_run run)
{
    if (run.extent > 0 && run.times > 0)
        padding->run[k][padding->runs[k]++] = run;
}

/* Indices `begin` to `end` of a period, which starts at `first`: the axis forwards, then from `turn` on backwards. */
static void add_period(dml_padding *padding, int k, int64_t size, int64_t turn, dml_run of, int64_t begin, int64_t end)
{
    int64_t forwards = end < size ? end : size, backwards = begin > size ? begin : size;
    add_run(padding, k, (dml_run){of.first + begin, forwards - begin, begin, 1, of.times, of.period});
    add_run(padding, k, (dml_run){of.first + backwards, end - backwards, turn + size - backwards, -1, of.times, of.period});
}

static void find_runs(dml_padding *padding, int k, int64_t size, const dml_padding_args *args)
{
    int64_t start = args->start->value[k], all = start + size + args->end->value[k], period = size;
    padding->runs[k] = 0;
    if (args->mode == DML_PADDING_EDGE || size < 2 || all == size) {
        add_run(padding, k, (dml_run){0, start, 0, 0, 1, 0});
        add_run(padding, k, (dml_run){start, size, 0, 1, 1, 0});
        add_run(padding, k, (dml_run){start + size, all - start - size, size - 1, 0, 1, 0});
        return;
    }
    if (args->mode != DML_PADDING_WRAP)
        period += args->mode == DML_PADDING_SYMMETRIC ? size : size - 2;
    int64_t turn = args->mode == DML_PADDING_SYMMETRIC ? size - 1 : size - 2, skip = (period - start % period) % period;
    int64_t first = skip > 0 ? period - skip : 0, whole = (all - first) / period, rest = first + whole * period;
    if (skip > 0)
        add_period(padding, k, size, turn, (dml_run){.first = -skip, .times = 1}, skip, period);
    add_period(padding, k, size, turn, (dml_run){.first = first, .times = whole, .period = period}, 0, period);
    add_period(padding, k, size, turn, (dml_run){.first = rest, .times = 1}, 0, all - rest);
}

/* The step is a run on each axis; its index counts them all. */
static void make_runs(const dml_program *program, int64_t index, dml_step *step)
{
    const dml_padding *padding = program->args;
    for (int k = 0; k < program->results->rank; k++) {
        const dml_run *run = &padding->run[k][index % padding->runs[k]];
        int64_t src_stride = program->inputs->strides[k], dst_stride = program->results->strides[k];
        index /= padding->runs[k];
        step->plan.src_offset += run->src * src_stride;
        step->plan.dst_offset += run->first * dst_stride;
        dml_plan_add(&step->plan, run->times, 0, run->period * dst_stride);
        dml_plan_add(&step->plan, run->extent, run->step * src_stride, dst_stride);
    }
}

void dml_padding_program(const dml_tensor *input, const dml_padding_args *args, const dml_tensor *result, dml_padding *padding,
                         dml_program *program)
{
    if (args->mode == DML_PADDING_CONSTANT) {
        for (int k = 0; k < input->rank; k++) {
            padding->window.first[k] = args->start->value[k];
            padding->window.count[k] = input->shape[k];
            padding->window.step[k] = 1;
        }
        dml_window_program(program, &padding->window, input, result);
        return;
    }
    *program = (dml_program){dml_tensor_count(result) > 0, make_runs, padding, input, result};
    for (int k = 0; k < input->rank && program->count > 0; k++) {
        find_runs(padding, k, input->shape[k], args);
        program->count *= padding->runs[k];
    }
}
