/* split: consecutive parts of an array; the program is dml_split_program. */
#ifndef DML_CORE_OP_SPLIT_H
#define DML_CORE_OP_SPLIT_H

#include "core/program.h"

/* `axis` may count from the end. Fills in `parts`, whose `begin` holds the size of each part before. */
dml_code dml_split_shape(const dml_tensor *input, int64_t axis, dml_parts *parts, int64_t count, dml_tensor *results,
                         dml_status *status);

#endif
