/* The kernels: all that the rest of the program knows of each is its row here, and policy.c's rules of when it is taken.
 *
 * A new kernel is a shader in shaders/, its constants in shaders/abi.h, a name in dml_kernel (dispatch.h), a row, and a
 * rule. */
#ifndef DML_KERNELS_KERNEL_LIST_H
#define DML_KERNELS_KERNEL_LIST_H

#include "kernels/policy.h"

/* What an invocation makes at once, for people; 0: nothing is to be said of it. */
typedef struct dml_invocation {
    int64_t tile;       /* bytes of the destination */
    int32_t word;       /* bytes of a store; 0: scalars alone */
    int32_t alignment;  /* bytes, of what it loads */
    int32_t per_window; /* rows that it makes of what it has loaded */
    int32_t per_group;  /* rows that a workgroup makes side by side */
    int32_t ahead;      /* iterations by which it prefetches */
} dml_invocation;

/* Fills in constants and table of a dispatch whose kernel was decided. */
typedef void dml_encoder(const dml_policy *policy, const dml_traits *traits, dml_dispatch *dispatch);

typedef dml_invocation dml_describer(const dml_dispatch *dispatch);

typedef struct dml_kernel_info {
    const char *name;        /* of the shader, shaders/NAME.comp, too */
    dml_encoder *encode;     /* NULL: a command of Vulkan's, which has no shader */
    dml_describer *describe; /* NULL: likewise */
    bool floats;             /* float32 are rounded to nearest even, as not every device promises */
    bool keeps;              /* NaN, infinities and signs of zeros are kept, likewise */
    bool shuffles;           /* invocations of a workgroup read each other's registers, likewise */
    bool by_scalars;         /* it moves one at a time, whatever their size */
} dml_kernel_info;

extern const dml_kernel_info dml_kernel_list[DML_KERNEL_COUNT];

#endif
