/* Steps that look up what lies apart, as two: one that moves numbers into the order of the destination, by the kernels that
 * transpose, and one that looks these up side by side. What lies between is memory of the call's own. */
#ifndef DML_KERNELS_TABLE_STAGES_H
#define DML_KERNELS_TABLE_STAGES_H

#include "kernels/tunables.h"
#include "plan/program.h"

typedef struct dml_table_stages {
    dml_program program; /* with two steps for each; refers to this structure, and is no copy's */
    const dml_program *of;
    const dml_tunables *tunables;
    int64_t bytes; /* of what lies between the two of a step, at most */
} dml_table_stages;

/* False where no step gains by it: the program is to be run as it is. */
bool dml_table_stages_begin(const dml_program *program, const dml_tunables *tunables, dml_table_stages *stages);

#endif
