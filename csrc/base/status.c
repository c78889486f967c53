#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

void dml_report(dml_status *status, dml_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(status->message, sizeof status->message, format, arguments);
    va_end(arguments);
    status->code = code;
    status->result = 0;
    status->in_use = 0;
}

dml_code dml_fail_axis(dml_status *status, const char *name, long long axis, int rank)
{
    status->axis = axis;
    status->rank = rank;
    return dml_fail(status, DML_AXIS_ERROR, "%s", name);
}
