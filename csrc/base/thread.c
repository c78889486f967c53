#define _DEFAULT_SOURCE  /* pthread_sigmask */
#define _DARWIN_C_SOURCE /* pthread_setname_np */
#include "base/thread.h"

#ifdef _WIN32
bool dml_thread_start(dml_thread_body *body, void *argument)
{
    HANDLE thread = CreateThread(NULL, 0, body, argument, 0, NULL);
    return thread && CloseHandle(thread);
}

void dml_thread_name(const char *name)
{
    (void)name;
}
#else
#include <pthread.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

void dml_thread_name(const char *name)
{
#if defined(__linux__)
    prctl(PR_SET_NAME, name);
#elif defined(__APPLE__)
    pthread_setname_np(name);
#else
    (void)name;
#endif
}

bool dml_thread_start(dml_thread_body *body, void *argument)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, body, argument) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
#endif
