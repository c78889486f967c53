/* Staging: a plan is moved in chunks through host-visible buffers, where host memory cannot be imported or import is slower.
 *
 * The host packs each chunk's elements without their gaps. There are two submissions with a pair of buffers each: while the
 * device works on one chunk, the host unpacks the chunk before it and packs the next.
 */
#ifndef DML_VK_STAGING_H
#define DML_VK_STAGING_H

#include "vk/submission.h"

/* Moves all of submission->step. */
dml_code dml_stage(dml_context *context, dml_submission *submission, dml_status *status);

#endif
