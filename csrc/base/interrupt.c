#include "base/interrupt.h"

#include <stddef.h>

#include "base/machine.h"

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

int64_t dml_interrupt_time(const dml_interrupt_poll *poll)
{
    return poll->asked + POLL_NS;
}

bool dml_interrupt_due(dml_interrupt_poll *poll)
{
    int64_t now = dml_nanoseconds();
    if (now < dml_interrupt_time(poll))
        return false;
    poll->asked = now;
    return interrupted && !poll->interrupted;
}

bool dml_interrupt_ask(void)
{
    return interrupted();
}

bool dml_interrupt_stops(dml_interrupt_poll *poll)
{
    if (poll && dml_interrupt_due(poll))
        poll->interrupted = dml_interrupt_ask();
    return poll && poll->interrupted;
}
