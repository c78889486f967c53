/* Runs a plain plan on the thread that calls: chooses its kernel, and loops over what the kernel does not. */
#ifndef DML_CORE_HOST_PLAIN_H
#define DML_CORE_HOST_PLAIN_H

#include "core/plan.h"

/* The plan is simplified and has no reversed axis. As dml_host_run otherwise. */
void dml_host_run_plain(const dml_plan *plan, const char *src, char *dst);

#endif
