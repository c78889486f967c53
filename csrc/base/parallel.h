/* Loops on several cores. Threads that help are started when they are first needed, wait between loops, and end with the
 * process. In the child of a fork they are started anew. */
#ifndef DML_BASE_PARALLEL_H
#define DML_BASE_PARALLEL_H

#include <stdint.h>

typedef void dml_loop_body(const void *argument, int64_t index);

/* Calls body(argument, index) for each index in [begin, end), in any order, on this thread and on helpers that are idle: none
 * where this thread may use one core only, or another loop has them. Returns when all calls have returned. */
void dml_parallel(dml_loop_body *body, const void *argument, int64_t begin, int64_t end);

#endif
