/* join, as numpy.concatenate has it; the program is dml_join_program. */
#ifndef DML_CORE_OP_JOIN_H
#define DML_CORE_OP_JOIN_H

#include "core/program.h"

/* `axis` may count from the end. Fills in `parts`, whose `begin` has room for `count`, one or more. */
dml_code dml_join_shape(const dml_tensor *inputs, int64_t count, int64_t axis, dml_parts *parts, dml_tensor *result,
                        dml_status *status);

#endif
