/* The import/staging autotuner: whether host memory is imported or staged, where a device can do both.
 *
 * Import saves the host two copies, but the driver has to map the pages, and a discrete GPU reads them over its bus. Which
 * costs more depends on the device and the size. So calls of each size are timed both ways at first, and later ones take the
 * way whose best time was shorter.
 */
#ifndef DML_VK_AUTOTUNE_H
#define DML_VK_AUTOTUNE_H

#include "vk/submission.h"

/* What was chosen for a call. */
typedef struct dml_autotune {
    bool import;
    dml_timing *timing; /* NULL: the call is not timed */
    double bytes;
    int64_t start; /* by dml_nanoseconds */
} dml_autotune;

/* Before submission->plan is run, and after it has succeeded. */
dml_code dml_autotune_begin(dml_context *context, const dml_submission *submission, dml_autotune *choice, dml_status *status);
void dml_autotune_end(dml_context *context, const dml_autotune *choice);

#endif
