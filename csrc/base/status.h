/* Errors below csrc/py: a code, and a message that the user will read.
 *
 * A function that can fail returns dml_code (DML_OK is 0) and fills in the dml_status of its caller.
 * A status belongs to one call on one thread; nothing is allocated.
 */
#ifndef DML_BASE_STATUS_H
#define DML_BASE_STATUS_H

#if defined(__GNUC__)
#define DML_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DML_PRINTF(text, first)
#endif

typedef enum dml_code {
    DML_OK = 0,
    DML_VALUE_ERROR,
    DML_INDEX_ERROR,
    DML_AXIS_ERROR, /* `axis` and `rank` say which */
    DML_NO_MEMORY,
    DML_NO_DEVICE,
    DML_EXITING,      /* the interpreter is: there is no device any more */
    DML_VULKAN_ERROR, /* `result` is the VkResult, here and in the two below */
    DML_OUT_OF_DEVICE_MEMORY,
    DML_DEVICE_LOST,
    DML_CUDA_ERROR,
    DML_INTERRUPTED, /* dml_interrupt_init's function has set an exception */
} dml_code;

typedef struct dml_status {
    dml_code code;
    int result;
    long long axis;
    int rank;
    int in_use; /* the device may still be using the call's memory, which must never be freed */
    char message[512];
} dml_status;

/* Fills in `status` and returns `code`: a failing function ends in `return dml_fail(...)`. It is a macro so that analysers
 * see that the result is not DML_OK. */
#define dml_fail(status, code, ...) (dml_report(status, code, __VA_ARGS__), dml_given(code))
void dml_report(dml_status *status, dml_code code, const char *format, ...) DML_PRINTF(3, 4);
static inline dml_code dml_given(dml_code code)
{
    return code;
}

/* `axis` is out of range for a tensor of `rank` axes; `name` is the argument's. */
dml_code dml_fail_axis(dml_status *status, const char *name, long long axis, int rank);

#endif
