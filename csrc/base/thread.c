#define _DEFAULT_SOURCE /* pthread_sigmask */
#include "base/thread.h"

#ifdef _WIN32
bool dml_thread_start(dml_thread_body *body, void *argument)
{
    HANDLE thread = CreateThread(NULL, 0, body, argument, 0, NULL);
    return thread && CloseHandle(thread);
}
#else
#include <pthread.h>
#include <signal.h>

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
