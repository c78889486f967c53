#include "device/allocation.h"

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
