/* Shader modules, and a pipeline for each kernel and set of specialisation constants in use. */
#ifndef DML_VK_KERNELS_H
#define DML_VK_KERNELS_H

#include "base/status.h"
#include "vk/context.h"

/* The bindings of a shader: source, destination, table, lengths and chunk counters. All but the table are storage buffers. */
enum { DML_BINDINGS = 5 };
extern const VkDescriptorType dml_binding_types[DML_BINDINGS];

typedef struct dml_pipeline {
    VkPipeline handle;
    dml_kernel kernel;
    int32_t constants[DML_CONSTANTS];
    uint64_t used; /* the value of `uses` when it was last acquired: the least recently used one is destroyed first */
    int users;     /* submissions that hold it */
} dml_pipeline;

dml_code dml_kernels_init(dml_context *context, dml_status *status);
void dml_kernels_deinit(dml_context *context);

/* The layouts of a dispatch's pipeline. */
const dml_modules *dml_kernels_modules(const dml_context *context, const dml_dispatch *dispatch);

/* The pipeline of a dispatch; to be released when the submission is done. One that has to be compiled fails with
 * DML_WOULD_WAIT unless `wait` is set. */
dml_code dml_pipeline_acquire(dml_context *context, const dml_dispatch *dispatch, bool wait, dml_pipeline **pipeline,
                              dml_status *status);
void dml_pipeline_release(dml_context *context, dml_pipeline *pipeline);

#endif
