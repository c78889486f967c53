/* A program: what a call does, as steps. Each is a plan from one source to one result, and no two write the same byte, so that
 * they may run in any order, or at once, but for those of a resize. Steps are made one by one as they are run: there may
 * be many.
 */
#ifndef DML_PLAN_PROGRAM_H
#define DML_PLAN_PROGRAM_H

#include "plan/tensor.h"

/* The source of a step that reads constants: one item, repeated by strides of 0, but for a compiled program. What lies between
 * the passes of resampling/resize.h. */
enum { DML_FILL = -1, DML_BETWEEN = -2 };

typedef struct dml_step {
    int64_t src; /* index of an input, DML_FILL or DML_BETWEEN */
    int64_t dst; /* index of a result, or DML_BETWEEN */
    dml_plan plan;
} dml_step;

typedef struct dml_operator dml_operator;
typedef struct dml_resize dml_resize;
struct dml_program;

/* Makes step `index`, which may be empty, of one that is from the first input to the first result and has no axes. */
typedef void dml_step_maker(const struct dml_program *program, int64_t index, dml_step *step);

/* All that it refers to is borrowed. */
typedef struct dml_program {
    int64_t count; /* of steps, */
    int64_t first; /* of which the first is that of this index to `make` */
    dml_step_maker *make;
    int64_t input_count, result_count;
    dml_tensor *inputs, *results;
    const dml_operator *op;                 /* or NULL, also below, where the program is no operator's */
    dml_ints *args;                         /* of the operator */
    int64_t *parts;                         /* join, split: where each part begins, on the axis; split's sizes before */
    dml_entries entries;                    /* reverse_subsequences, gather: integers, */
    const int64_t *entry_strides;           /* their strides in bytes; NULL: they are dense */
    const void *other;                      /* what a maker that is no operator's needs */
    const dml_resize *resize;               /* what is resized, by steps that follow each other; or NULL */
    const struct dml_selection *selections; /* of a compiled program's steps, or NULL */
    bool tables;                            /* some step's plan has one, */
    bool arithmetic;                        /* or arithmetic */
    bool formulas;                          /* some step's plan has one: not each device can run it */
} dml_program;

void dml_program_step(const dml_program *program, int64_t index, dml_step *step);

/* The program whose only step is a plan, which must outlive it. */
void dml_program_of_plan(dml_program *program, const dml_plan *plan);

/* Bytes that all steps write to results. */
int64_t dml_program_bytes(const dml_program *program);

/* The strides of a side tensor of that shape. */
void dml_entry_strides(const dml_program *program, const dml_ints *shape, int64_t strides[DML_MAX_RANK]);

/* Adds all axes of an array, which move between two arrays that have them. */
void dml_plan_add_axes(dml_plan *plan, const dml_tensor *shape, const dml_tensor *from, const dml_tensor *to);

/* `extent` indices of a result's axis, `stride` apart from `first` on, whose source advances by `src_stride` from `src` on:
 * `times` times, `period` indices apart. */
typedef struct dml_index_map {
    int64_t first;
    int64_t extent;
    int64_t stride;
    int64_t src;
    int64_t src_stride;
    int64_t times;
    int64_t period;
} dml_index_map;

/* Adds a map of an axis that has these strides. */
void dml_plan_add_map(dml_plan *plan, const dml_index_map *map, int64_t src_stride, int64_t dst_stride);

/* Makes a step of a program whose input is an inset of the result, by a map for each axis of all of the input's indices; all
 * else is filled. There are dml_inset_steps of them. */
int64_t dml_inset_steps(const dml_tensor *result);
void dml_inset_step(const dml_program *program, const dml_index_map *inset, int64_t index, dml_step *step);

/* --- portions: so many bytes each, run one after the other, so that a caller can report how far it has come ------------- */

struct dml_portions;

/* Runs a portion, which has `bytes`. False: no further one is run. */
typedef bool dml_portion_runner(struct dml_portions *portions, const dml_program *portion, int64_t bytes);

typedef struct dml_portions {
    const dml_program *program;
    int64_t most; /* bytes of a portion, about; 1 or more */
    dml_portion_runner *run;
} dml_portions;

/* Calls `run` for each portion. True if all of these calls returned true. A portion has whole steps, or a cut of one. The
 * reversed axis is not cut: a portion is larger than `most` where that axis is. */
bool dml_portions_run(dml_portions *portions);

#endif
