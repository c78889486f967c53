/* A program: what a call does, as steps. Each is a plan from one source to one result, and no two write the same byte, so that
 * they may run in any order, or at once. Steps are made one by one as they are run: there may be many.
 */
#ifndef DML_CORE_PROGRAM_H
#define DML_CORE_PROGRAM_H

#include "core/operator.h"

/* The source of a step that repeats one item: strides and offset of the plan's source are 0. */
enum { DML_FILL = -1 };

typedef struct dml_step {
    int64_t src; /* index of an input, or DML_FILL */
    int64_t dst; /* index of a result */
    dml_plan plan;
} dml_step;

struct dml_program;

/* Makes step `index`, which may be empty, of one that is from the first input to the first result and has no axes. */
typedef void dml_step_maker(const struct dml_program *program, int64_t index, dml_step *step);

typedef struct dml_program {
    int64_t count; /* of steps */
    dml_step_maker *make;
    const void *args; /* of the operator, here and below borrowed */
    const dml_tensor *inputs;
    const dml_tensor *results;
} dml_program;

void dml_program_step(const dml_program *program, int64_t index, dml_step *step);

/* The program whose only step is a plan, which must outlive it. */
void dml_program_of_plan(dml_program *program, const dml_plan *plan);

/* Bytes that all steps write. */
int64_t dml_program_bytes(const dml_program *program);

/* A window of a result: on each axis every `step`-th index from `first` on. */
typedef struct dml_window {
    int64_t first[DML_MAX_RANK];
    int64_t count[DML_MAX_RANK];
    int64_t step[DML_MAX_RANK]; /* not 0 */
} dml_window;

/* The window comes from the input, and all else of the result is filled. */
void dml_window_program(dml_program *program, const dml_window *window, const dml_tensor *input, const dml_tensor *result);

/* Parts of an array, along an axis. */
typedef struct dml_parts {
    int axis;
    int64_t *begin; /* index of the first of each part */
} dml_parts;

/* One step per part: from inputs to one result, or from one input to results. */
void dml_join_program(dml_program *program, const dml_parts *parts, const dml_tensor *inputs, int64_t count,
                      const dml_tensor *result);
void dml_split_program(dml_program *program, const dml_parts *parts, const dml_tensor *input, const dml_tensor *results,
                       int64_t count);

#endif
