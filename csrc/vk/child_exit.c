#define _GNU_SOURCE /* on_exit, fcloseall */
#include "vk/child_exit.h"

#include <stdlib.h> /* __GLIBC__ */
#ifdef __GLIBC__
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "vk/quiesce.h"

/* Ends as exit() does after its last handler. */
static void leave(int status, void *generation)
{
    if ((uintptr_t)generation == dml_fork_generation())
        return;
    fcloseall();   /* uncovered: only in a forked child, which writes no counts */
    _exit(status); /* uncovered: only in a forked child, which writes no counts */
}

/* A driver's exit handler joins threads that a child does not have: Mesa's waits for those of the shader cache, which hangs or
 * crashes, whether or not the child has called anything. Handlers run in reverse order. So one that follows the driver's, and
 * in a child ends the process, keeps it from the driver's, and from no other but those registered earlier still. */
void dml_child_exit_watch(void)
{
    (void)on_exit(leave, (void *)(uintptr_t)dml_fork_generation());
}

#else
void dml_child_exit_watch(void)
{
}
#endif
