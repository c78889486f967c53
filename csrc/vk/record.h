/* Recording pieces: each is bound to ranges of its two operands, and recorded as one copy or dispatch. */
#ifndef DML_VK_RECORD_H
#define DML_VK_RECORD_H

#include "vk/submission.h"

/* Begins the walk over the pieces of submission->step. */
void dml_record_begin(dml_context *context, dml_submission *submission, const dml_limits *limits);

/* Whether submission->piece, and what its dispatch leaves, do not fit into this submission any more. */
bool dml_record_is_full(const dml_context *context, const dml_submission *submission);

/* Records submission->dispatch, of submission->piece. Host memory is bound to the submission's staging buffers, from their
 * first byte on; a submission without any imports it. Where the device refuses an import it sets submission->refused, and
 * records nothing. */
dml_code dml_record_piece(dml_context *context, dml_submission *submission, dml_status *status);

/* Begins the command buffer, with the barrier that the submission needs. */
dml_code dml_record_commands(dml_context *context, dml_submission *submission, dml_status *status);

/* Records submission->dispatch between the bindings of `slot`; the arena must have room for its table and entries. */
dml_code dml_record_dispatch(dml_context *context, dml_submission *submission, dml_slot *slot, dml_status *status);

/* Staging: moves all of submission->step in chunks through host-visible buffers, where host memory cannot be imported or import
 * is slower. The host packs each chunk's elements without their gaps. There are two submissions with a pair of buffers each:
 * while the device works on one chunk, the host unpacks the chunk before it and packs the next. */
dml_code dml_stage(dml_context *context, dml_submission *submission, dml_status *status);

#endif
