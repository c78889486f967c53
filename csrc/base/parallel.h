/* Loops on several cores. Threads that help are started when they are first needed, wait between loops, and end with the
 * process. In the child of a fork they are started anew. */
#ifndef DML_BASE_PARALLEL_H
#define DML_BASE_PARALLEL_H

#include <stdint.h>

#include "base/interrupt.h"

/* Before any loop: forks are watched from here on. */
void dml_parallel_open(void);

/* How many threads run a loop of so many indices, this one included, if no other loop has them. */
int dml_parallel_threads(int64_t indices);

typedef void dml_loop_body(const void *argument, int64_t index);

/* Calls body(argument, index) for each index from `begin` on, in any order, on this thread and on helpers that are idle: none
 * where this thread may use one core only, or another loop has them. Returns when all calls have returned. With a `poll`, asks
 * as that has it whether to stop: false if it was stopped, and some indices may be left out. No helper is at work when it asks,
 * since what is asked may fork. */
bool dml_parallel(dml_loop_body *body, const void *argument, int64_t begin, int64_t end, dml_interrupt_poll *poll);

#endif
