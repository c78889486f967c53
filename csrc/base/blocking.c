#include "base/blocking.h"

#include <stddef.h>

static void (*about_to_block)(void);

void dml_blocking_init(void (*hook)(void))
{
    about_to_block = hook;
}

void dml_about_to_block(void)
{
    if (about_to_block)
        about_to_block();
}
