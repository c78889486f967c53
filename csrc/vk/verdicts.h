/* What a device was found to compute as the host does, or not to: by running it once. */
#ifndef DML_VK_VERDICTS_H
#define DML_VK_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "plan/plan.h"

typedef struct dml_context dml_context;

/* Whether there is a verdict on what has this key, and which: whether the device makes the right bits of it. */
bool dml_verdict_find(dml_context *context, uint64_t key, bool *same);

void dml_verdict_add(dml_context *context, uint64_t key, bool same);

/* Items from one result of such a run to the next: code for results that lie apart takes least to compile. */
enum { DML_VERDICT_APART = 2 };

/* Runs a plan between host arrays, by its arithmetic if it has some. */
dml_code dml_verdict_try(dml_context *context, const dml_plan *plan, void *values, void *made, dml_status *status);

/* Frees memory that a transfer read or wrote, but for what a device that is lost may still be using. */
void dml_free_unused(void *memory, dml_code code, const dml_status *status);

#endif
