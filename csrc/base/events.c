#include "base/events.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"

enum { MOST = 64 };

/* A fork finds the lock free: those who add are inside the driver, which it waits for, and those who take have the GIL. */
static struct {
    dml_lock lock;
    atomic_int count;
    dml_event events[MOST];
} state = {.lock = DML_LOCK_INIT};

void dml_event_add(dml_event_level level, const char *format, ...)
{
    dml_event event = {.level = level};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    dml_lock_acquire(&state.lock);
    if (state.count < MOST)
        state.events[state.count++] = event;
    dml_lock_release(&state.lock);
}

bool dml_event_waits(void)
{
    return state.count > 0;
}

bool dml_event_take(dml_event *event)
{
    dml_lock_acquire(&state.lock);
    const bool there = state.count > 0;
    if (there) {
        *event = state.events[0];
        state.count--;
        memmove(state.events, state.events + 1, (size_t)state.count * sizeof *state.events);
    }
    dml_lock_release(&state.lock);
    return there;
}
