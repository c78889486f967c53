#include "vk/verdicts.h"

#include <stdlib.h>

#include "plan/program.h"
#include "vk/context.h"
#include "vk/run.h"

bool dml_verdict_find(dml_context *context, uint64_t key, bool *same)
{
    bool known = false;
    dml_lock_acquire(&context->lock);
    const uint64_t set = key % DML_VERDICT_SETS, count = context->verdicts.counts[set];
    for (uint64_t i = 0; i < DML_VERDICTS && i < count && !known; i++) {
        const dml_verdict *verdict = &context->verdicts.kept[set][i];
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
    const uint64_t place = context->verdicts.counts[set]++ % DML_VERDICTS;
    context->verdicts.kept[set][place] = (dml_verdict){key, same};
    dml_lock_release(&context->lock);
}

void dml_free_unused(void *memory, dml_code code, const dml_status *status)
{
    if (!code || !status->in_use)
        free(memory);
}

dml_code dml_verdict_try(dml_context *context, const dml_plan *plan, void *values, void *made, dml_status *status)
{
    dml_program program;
    dml_program_of_plan(&program, plan);
    const dml_operand from = {.data = values}, to = {.data = made};
    const dml_transfer transfer = {.program = &program, .inputs = &from, .results = &to, .computed = plan->arithmetic != NULL};
    return dml_vk_run(context, &transfer, status);
}
