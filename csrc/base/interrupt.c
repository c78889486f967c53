#include "base/interrupt.h"

#include <stddef.h>

#include "base/clock.h"

enum { POLL_NS = 100000000 };

static bool (*interrupted)(void);

void dml_interrupt_init(bool (*function)(void))
{
    interrupted = function;
}

dml_interrupt_poll dml_interrupt_poll_from_now(void)
{
    return (dml_interrupt_poll){false, dml_nanoseconds()};
}

bool dml_interrupt_due(dml_interrupt_poll *poll)
{
    int64_t now = dml_nanoseconds();
    if (!interrupted || poll->interrupted || now < poll->asked + POLL_NS)
        return false;
    poll->asked = now;
    return true;
}

bool dml_interrupt_ask(void)
{
    return interrupted();
}
