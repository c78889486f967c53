#include "device/operands.h"

#include <stddef.h>

void dml_allocation_retain(dml_allocation *allocation)
{
    allocation->references++;
}

void dml_allocation_release(dml_allocation *allocation)
{
    if (allocation && --allocation->references == 0)
        allocation->release(allocation);
}

dml_allocation *dml_transfer_next(const dml_transfer *transfer, int64_t *at, bool *writes)
{
    const int64_t inputs = transfer->program->input_count, sides = inputs + transfer->program->result_count;
    dml_allocation *found = NULL;
    while (!found && *at < sides + 2) {
        const int64_t i = (*at)++;
        *writes = i >= inputs && i != sides;
        if (i < sides)
            found = i < inputs ? transfer->inputs[i].allocation : transfer->results[i - inputs].allocation;
        else
            found = i == sides ? transfer->entries : transfer->between;
    }
    return found;
}
