/* Portions of a program: so many bytes each, to be run one after the other, so that a caller can report how far it has come. */
#ifndef DML_CORE_PORTION_H
#define DML_CORE_PORTION_H

#include "core/program.h"

struct dml_portions;

/* Runs a portion, which has `bytes`. False ends the run. */
typedef bool dml_portion_runner(struct dml_portions *portions, const dml_program *portion, int64_t bytes);

typedef struct dml_portions {
    const dml_program *program;
    int64_t most; /* bytes of a portion, about; 1 or more */
    dml_portion_runner *run;
} dml_portions;

/* Calls `run` for each portion. True if all of these calls returned true. A portion has whole steps, or a part of one. The
 * reversed axis is not cut: a portion is larger than `most` where that axis is. */
bool dml_portions_run(dml_portions *portions);

#endif
