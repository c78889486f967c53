/* The descriptor sets of a submission: each piece has one, allocated once and rewritten whenever the piece is recorded. */
#ifndef DML_VK_DESCRIPTORS_H
#define DML_VK_DESCRIPTORS_H

#include "vk/submission.h"

/* A pool with room for the sets of all pieces. */
VkResult dml_descriptors_create(dml_context *context, dml_descriptors *descriptors);
void dml_descriptors_destroy(dml_context *context, dml_descriptors *descriptors);

/* Writes the set of a piece for a dispatch: `buffers` are bound one to a binding, or cut into segments. The device is done with
 * the piece that the set was written for before. */
dml_code dml_descriptors_write(dml_context *context, dml_submission *submission, int piece,
                               const VkDescriptorBufferInfo buffers[DML_BINDINGS], VkDescriptorSet *set, dml_status *status);

#endif
