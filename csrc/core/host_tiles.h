/* Transposes square tiles in registers: for results that are contiguous along one axis, sources along another. */
#ifndef DML_CORE_HOST_TILES_H
#define DML_CORE_HOST_TILES_H

#include "core/host_kernel.h"

/* How well tiles fit a plan: not at all, and the job is as before; well; better than any other kernel. */
typedef enum dml_tiles_fit { DML_TILES_NONE, DML_TILES_GOOD, DML_TILES_BEST } dml_tiles_fit;

dml_tiles_fit dml_tiles_choose(const dml_plan *plan, dml_host_job *job);

#endif
