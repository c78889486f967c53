#include "vk/run.h"

#include <stdlib.h>
#include <string.h>

#include "vk/context.h"
#include "vk/verdicts.h"

enum { VALUES = 256 /* of a byte */ };

/* Computes all rows of a plan's table for these values. */
static dml_code compute(dml_context *context, const dml_plan *of, char *values, char *entries, dml_status *status)
{
    dml_plan plan;
    dml_plan_begin(&plan, of->item);
    plan.src_item = of->src_item;
    plan.entries = of->entries;
    plan.entries.offset = of->arithmetic->table;
    plan.arithmetic = of->arithmetic;
    dml_plan_add(&plan, of->arithmetic->rows, 0, DML_VERDICT_APART * of->entries.item);
    plan.axes[0].entry_stride = plan.entries.item;
    dml_plan_add(&plan, VALUES, of->src_item, DML_VERDICT_APART * of->item);
    return dml_verdict_try(context, &plan, values, entries, status);
}

/* What the device makes of a plan's arithmetic. */
static dml_code try(dml_context *context, const dml_plan *plan, bool *same, dml_status *status)
{
    const size_t count = (size_t)plan->arithmetic->rows * VALUES, item = (size_t)plan->item;
    const char *table = (const char *)plan->entries.data + plan->arithmetic->table;
    char *values = malloc(VALUES + count * DML_VERDICT_APART * item);
    if (!values)
        return dml_fail(status, DML_NO_MEMORY, "no memory for %zu entries of a table", count);
    char *entries = values + VALUES;
    for (int i = 0; i < VALUES; i++)
        values[i] = (char)i;
    dml_code code = compute(context, plan, values, entries, status);
    *same = !code;
    for (size_t i = 0; i < count && *same; i++)
        *same = memcmp(entries + i * DML_VERDICT_APART * item, table + i * item, item) == 0;
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
