/* The host as a device: everything is done by the thread that calls, and its helpers. */
#ifndef DML_HOST_HOST_BACKEND_H
#define DML_HOST_HOST_BACKEND_H

#include "device/backend.h"

extern const dml_backend dml_host_backend;

#endif
