/* What is to fail, what is alive, and what was done wrong: told and asked by tests, through ctypes. */
#include "layer.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    char kind[16]; /* "": none */
    char only[64]; /* a function's name; "": all */
    long at;       /* which occurrence, from 1 */
    int result;
    bool after;
    long seen;
    char fired[64];
    bool lost; /* a device that was lost once stays so, until there is a new one */
} fault;

static struct {
    char what[48];
    long count;
} alive[64];

static struct {
    char name[48];
    long count;
} calls[64];

static char violations[4096];

EXPORT void faults_arm(const char *kind, const char *only, long at, int result, int after)
{
    pthread_mutex_lock(&mutex);
    memset(&fault, 0, sizeof fault);
    snprintf(fault.kind, sizeof fault.kind, "%s", kind);
    snprintf(fault.only, sizeof fault.only, "%s", only);
    fault.at = at;
    fault.result = result;
    fault.after = after;
    pthread_mutex_unlock(&mutex);
}

/* The function that failed; "" if none has. */
EXPORT const char *faults_fired(void)
{
    return fault.fired;
}

EXPORT long faults_seen(void)
{
    return fault.seen;
}

EXPORT const char *faults_violations(void)
{
    return violations;
}

/* "": of everything. */
long live_count(const char *what)
{
    long count = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 64 && alive[i].what[0]; i++)
        if (!*what || strcmp(alive[i].what, what) == 0)
            count += alive[i].count;
    pthread_mutex_unlock(&mutex);
    return count;
}

EXPORT long faults_alive(const char *what)
{
    return live_count(what);
}

/* What is alive, as "vkCreateBuffer 2, ..."; for messages. */
EXPORT const char *faults_list_alive(void)
{
    static char list[64 * 80];
    char *end = list;
    *end = '\0';
    for (int i = 0; i < 64 && alive[i].what[0]; i++)
        if (alive[i].count)
            end += sprintf(end, "%.47s %ld, ", alive[i].what, alive[i].count);
    return list;
}

void call_add(const char *name)
{
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (calls[i].name[0] && strcmp(calls[i].name, name) != 0)
        i++;
    snprintf(calls[i].name, sizeof calls[i].name, "%s", name);
    calls[i].count++;
    pthread_mutex_unlock(&mutex);
}

/* How often each function was called, as "vkQueueSubmit 2, ...". */
EXPORT const char *faults_list_calls(void)
{
    static char list[64 * 80];
    char *end = list;
    *end = '\0';
    for (int i = 0; i < 64 && calls[i].name[0]; i++)
        end += sprintf(end, "%.47s %ld, ", calls[i].name, calls[i].count);
    return list;
}

fault_mode fault_fires(const char *kind, const char *name, bool can_come_after)
{
    fault_mode mode = FAULT_NONE;
    if (strcmp(kind, "vulkan") == 0)
        call_add(name);
    pthread_mutex_lock(&mutex);
    if (strcmp(fault.kind, kind) == 0 && (!fault.only[0] || strcmp(fault.only, name) == 0) &&
        (can_come_after || !fault.after)) {
        if (++fault.seen == fault.at) {
            mode = fault.after ? FAULT_AFTER : FAULT_INSTEAD;
            snprintf(fault.fired, sizeof fault.fired, "%s", name);
            fault.lost = fault.result == VK_ERROR_DEVICE_LOST;
        }
    }
    pthread_mutex_unlock(&mutex);
    return mode;
}

VkResult fault_result(void)
{
    return fault.result;
}

bool fault_device_lost(void)
{
    return fault.lost;
}

void fault_device_made(void)
{
    fault.lost = false;
}

void live_add(const char *what, int change)
{
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (alive[i].what[0] && strcmp(alive[i].what, what) != 0)
        i++;
    snprintf(alive[i].what, sizeof alive[i].what, "%s", what);
    bool below = (alive[i].count += change) < 0;
    pthread_mutex_unlock(&mutex);
    if (below)
        violation("more destroyed than made by %s", what);
}

void violation(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&mutex);
    size_t used = strlen(violations);
    vsnprintf(violations + used, sizeof violations - used, format, arguments);
    used = strlen(violations);
    snprintf(violations + used, sizeof violations - used, "\n");
    pthread_mutex_unlock(&mutex);
    va_end(arguments);
}
