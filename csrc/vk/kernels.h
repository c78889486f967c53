/* Shader modules, and a pipeline for each kernel and set of specialisation constants in use. */
#ifndef DML_VK_KERNELS_H
#define DML_VK_KERNELS_H

#include "base/status.h"
#include "vk/context.h"

/* The bindings of a shader: source, destination, table, entries and chunk counters. All but the table are storage buffers. */
enum { DML_BINDINGS = 5 };
extern const VkDescriptorType dml_binding_types[DML_BINDINGS];

typedef struct dml_pipeline {
    VkPipeline handle;
    dml_kernel kernel;
    int32_t constants[DML_CONSTANTS];
    atomic_int users;           /* submissions that hold it */
    struct dml_pipeline *older; /* in the list by last use; the least recently used one is destroyed first */
} dml_pipeline;

dml_code dml_kernels_init(dml_context *context, dml_status *status);
void dml_kernels_deinit(dml_context *context);

/* The layouts of a dispatch's pipeline. */
const dml_modules *dml_kernels_modules(const dml_context *context, const dml_dispatch *dispatch);

/* The pipeline of a dispatch, if there is one, and else a new one; to be released when the submission is done. */
dml_pipeline *dml_pipeline_find(dml_context *context, const dml_dispatch *dispatch);
dml_code dml_pipeline_compile(dml_context *context, const dml_dispatch *dispatch, dml_pipeline **pipeline, dml_status *status);

/* Whether there are as many as there should be, and submissions hold all of them. */
bool dml_pipelines_busy(dml_context *context);

#endif
