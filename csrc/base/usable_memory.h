/* How much memory this process may use: the least of what the machine has, its control groups allow (version 1 and 2, in
 * containers), and RLIMIT_AS. All of it may change at any time. */
#ifndef DML_BASE_USABLE_MEMORY_H
#define DML_BASE_USABLE_MEMORY_H

#include <stdbool.h>

typedef struct dml_usable_memory {
    unsigned long long limit; /* bytes in all */
    unsigned long long left;  /* bytes that the process could still get */
} dml_usable_memory;

/* 0 is what the system does not tell. Reads a few files of the system. */
dml_usable_memory dml_usable_memory_now(void);

/* For tests: control groups are read below that folder in place of "/"; NULL ends that. False if the name is too long. */
bool dml_usable_memory_play(const char *folder);

#endif
