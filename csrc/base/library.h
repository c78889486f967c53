/* Shared libraries, opened at run time. None is ever closed: drivers leave threads and exit handlers behind. */
#ifndef DML_BASE_LIBRARY_H
#define DML_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum { DML_PATH = 4096 }; /* bytes of the longest path of a file */

typedef void (*dml_function)(void); /* of any type */

/* `name` is a path, or a file's name for the system to find. `apart` makes the library and its dependencies prefer their own
 * symbols to those that the process has loaded for all. NULL if it cannot be opened; `reason` (`size` bytes) says why. */
void *dml_library_open(const char *name, bool apart, char *reason, size_t size);

/* NULL if the library exports none of that name. */
dml_function dml_library_function(void *library, const char *name);

/* The path of the library that a function is in; empty where that is unknown. */
void dml_library_path(dml_function function, char *path, size_t size);

#endif
