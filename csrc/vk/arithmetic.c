#include "vk/run.h"

#include <stdlib.h>
#include <string.h>

#include "vk/context.h"

enum {
    VALUES = 256, /* of a byte */
    APART = 2     /* items */
};

bool dml_verdict_find(dml_context *context, uint64_t key, bool *same)
{
    bool known = false;
    dml_lock_acquire(&context->lock);
    const uint64_t set = key % DML_VERDICT_SETS, count = context->arithmetic.counts[set];
    for (uint64_t i = 0; i < DML_VERDICTS && i < count && !known; i++) {
        const dml_verdict *verdict = &context->arithmetic.verdicts[set][i];
        known = verdict->key == key;
        if (known)
            *same = verdict->same;
    }
    dml_lock_release(&context->lock);
    return known;
}

void dml_verdict_add(dml_context *context, uint64_t key, bool same)
{
    const uint64_t set = key % DML_VERDICT_SETS;
    dml_lock_acquire(&context->lock);
    const uint64_t place = context->arithmetic.counts[set]++ % DML_VERDICTS;
    context->arithmetic.verdicts[set][place] = (dml_verdict){key, same};
    dml_lock_release(&context->lock);
}

void dml_free_unused(void *memory, dml_code code, const dml_status *status)
{
    if (!code || !status->in_use)
        free(memory);
}

/* Computes all rows of a plan's table for these values. Entries that lie apart are the least to compile. */
static dml_code compute(dml_context *context, const dml_plan *of, char *values, char *entries, dml_status *status)
{
    dml_plan plan;
    dml_plan_begin(&plan, of->item);
    plan.src_item = of->src_item;
    plan.entries = of->entries;
    plan.entries.offset = of->arithmetic->table;
    plan.arithmetic = of->arithmetic;
    dml_plan_add(&plan, of->arithmetic->rows, 0, APART * of->entries.item);
    plan.axes[0].entry_stride = plan.entries.item;
    dml_plan_add(&plan, VALUES, of->src_item, APART * of->item);
    dml_program program;
    dml_program_of_plan(&program, &plan);
    const dml_operand from = {.data = values}, to = {.data = entries};
    const dml_transfer transfer = {.program = &program, .inputs = &from, .results = &to, .computed = true};
    return dml_vk_run(context, &transfer, status);
}

/* What the device makes of a plan's arithmetic. */
static dml_code try(dml_context *context, const dml_plan *plan, bool *same, dml_status *status)
{
    const size_t count = (size_t)plan->arithmetic->rows * VALUES, item = (size_t)plan->item;
    const char *table = (const char *)plan->entries.data + plan->arithmetic->table;
    char *values = malloc(VALUES + count * APART * item);
    if (!values)
        return dml_fail(status, DML_NO_MEMORY, "no memory for %zu entries of a table", count);
    char *entries = values + VALUES;
    for (int i = 0; i < VALUES; i++)
        values[i] = (char)i;
    dml_code code = compute(context, plan, values, entries, status);
    *same = !code;
    for (size_t i = 0; i < count && *same; i++)
        *same = memcmp(entries + i * APART * item, table + i * item, item) == 0;
    dml_free_unused(values, code, status);
    if (!code)
        dml_verdict_add(context, plan->arithmetic->key, *same);
    return code;
}

/* Whether all steps of a program that have arithmetic may be computed by it. */
static dml_code check(dml_context *context, const dml_program *program, bool *same, dml_status *status)
{
    *same = program->arithmetic && dml_program_bytes(program) > context->traits.core.tunables.little;
    for (int64_t i = 0; i < program->count && *same; i++) {
        dml_step step;
        dml_program_step(program, i, &step);
        if (!step.plan.arithmetic || dml_verdict_find(context, step.plan.arithmetic->key, same))
            continue;
        if (try(context, &step.plan, same, status))
            return status->code;
    }
    return DML_OK;
}

dml_code dml_vk_run_computed(dml_context *context, const dml_transfer *transfer, dml_status *status)
{
    dml_transfer computed = *transfer;
    if (check(context, transfer->program, &computed.computed, status))
        return status->code;
    return dml_vk_run_tables(context, &computed, status);
}
