/* Operators: each is a file op_*.c, which ends with its dml_operator, and a name in the list below. Nothing here knows Python,
 * NumPy or Vulkan. */
#ifndef DML_OPS_OPERATOR_H
#define DML_OPS_OPERATOR_H

#include <stddef.h>

#include "base/status.h"
#include "plan/program.h"

/* What is given for a parameter, and how it becomes a dml_ints. */
typedef enum dml_kind {
    DML_ARG_INT,         /* one int */
    DML_ARG_AXIS,        /* one int: an axis of the first input, becomes counted from the front */
    DML_ARG_INTS,        /* one for each axis of the first input */
    DML_ARG_INT_OR_INTS, /* one for each spatial axis, or one for all of them */
    DML_ARG_PARTS,       /* ints, one per result: how many, and the program's `parts` */
    DML_ARG_ENUM,        /* one of `enumerators`: its index */
    DML_ARG_LAYOUT,      /* likewise; the operator's first parameter is for spatial axes */
    DML_ARG_ITEM,        /* a scalar that the inputs' dtype holds: what is filled with */
    DML_ARG_LENGTHS,     /* an array of integers: its shape, and the program's `entries`; the first parameter */
    DML_ARG_INDICES,     /* likewise, an array already; those of axes that the operator gathers, in its only step */
} dml_kind;

enum { DML_MAX_PARAMETERS = 4 };

typedef const char *dml_enumerator;

typedef struct dml_parameter {
    const char *name;
    dml_kind kind;
    bool optional;                     /* may be None */
    bool natural;                      /* of DML_ARG_INTS: 0 or more */
    const dml_enumerator *enumerators; /* two or more, and NULL */
} dml_parameter;

/* Checks the rules that the parameters do not state, and gives the results their shapes. On entry the results have rank, item
 * and shape of the first input. It may normalize the program's arguments, and gives it a `count` other than 1. The operators'
 * documents say where each rule comes from. */
typedef dml_code dml_shape_rule(dml_program *program, dml_status *status);

typedef struct dml_operator {
    const char *input;                                /* what the input is called */
    bool several;                                     /* it is a sequence of them */
    bool fills;                                       /* steps may be fills: of zeros, if there is no DML_ARG_ITEM */
    dml_parameter parameters[DML_MAX_PARAMETERS + 1]; /* of its own; one without a name ends them */
    dml_shape_rule *shape;
    dml_step_maker *make; /* once the results' strides are known */
} dml_operator;

#define DML_OPERATORS(X)                                                                                                       \
    X(reverse_subsequences)                                                                                                    \
    X(depth_to_space)                                                                                                          \
    X(space_to_depth)                                                                                                          \
    X(slice)                                                                                                                   \
    X(padding)                                                                                                                 \
    X(tile)                                                                                                                    \
    X(join)                                                                                                                    \
    X(split)                                                                                                                   \
    X(transpose)                                                                                                               \
    X(upsample)                                                                                                                \
    X(slice_grad)                                                                                                              \
    X(gather)

#define DML_DECLARE_OPERATOR(name) extern const dml_operator dml_op_##name;
DML_OPERATORS(DML_DECLARE_OPERATOR)

/* Checks all rules of a program that has an operator, its arguments and inputs. Gives it its steps, and the results shapes and
 * C-contiguous strides. */
dml_code dml_operator_shape(dml_program *program, dml_status *status);

/* The enumerators of a layout. */
extern const dml_enumerator dml_layouts[];

/* --- rules that operators share ---------------------------------------------------------------------------------------- */

/* Turns an axis counted from the end into one counted from the front. */
dml_code dml_normalize_axis(const char *name, int64_t *axis, int rank, dml_status *status);

/* Turns factors of 1 or more, one for each spatial axis of an input with channels, into one for each of its `rank` axes: 1 for
 * the others. `layout`, 0 for channels before the spatial axes and 1 for channels behind them, becomes the channels' axis. */
dml_code dml_spread_factors(dml_ints *factors, dml_ints *layout, int rank, dml_status *status);

/* The product of all entries, which are 1 or more; `product` may be one of them. */
dml_code dml_multiply_entries(const dml_ints *ints, int64_t *product, dml_status *status);

/* Multiplies the size of an axis by an argument's entry, where there are as many indices. */
dml_code dml_multiply_axis(const char *name, int64_t by, int axis, int64_t *size, dml_status *status);

/* Checks a slice of an array called `name` by offsets, sizes and strides, three arguments in this order; `most` becomes the
 * number of indices on each axis. */
dml_code dml_check_slice(const dml_ints *args, const dml_tensor *tensor, const char *name, int64_t *most, dml_status *status);

/* `count` indices of the slice on axis k, from the first on. */
dml_index_map dml_slice_map(const dml_ints *args, int k, int64_t count);

#endif
