/* Threads of our own, which end with the process. */
#ifndef DML_BASE_THREAD_H
#define DML_BASE_THREAD_H

#include <stdbool.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#define DML_THREAD DWORD WINAPI
#else
#define DML_THREAD void *
#endif

/* It returns 0. */
typedef DML_THREAD dml_thread_body(void *argument);

/* Starts a thread that gets no signals: those are for the program's own threads. False if there cannot be one. */
bool dml_thread_start(dml_thread_body *body, void *argument);

/* Names this thread, for debuggers and monitors: at most 15 bytes, where the system has names. */
void dml_thread_name(const char *name);

#endif
