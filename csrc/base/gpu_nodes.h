/* Whether there may be a GPU. */
#ifndef DML_BASE_GPU_NODES_H
#define DML_BASE_GPU_NODES_H

#include <stdbool.h>

/* Whether the kernel shows this process a GPU, without opening one. True where that cannot be known. */
bool dml_gpu_nodes(void);

#endif
