/* Makes forks wait until all other threads sleep. AddressSanitizer of GCC 12 does not take its allocator's locks for a fork: where
 * another thread has one, the child finds it locked forever. A thread that has one runs, or waits for a page. `run.sh` loads this
 * into the interpreter. A test that a fork does not wait sets DMLOPS_TEST_FORKS_AT_ONCE. */
#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MS = 5000 };

static bool sleeps(const char *task)
{
    char path[300], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return true; /* it has ended */
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return !name_end || name_end[2] == 'S';
}

/* This thread is one. */
static int running(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        count += isdigit((unsigned char)*task->d_name) && !sleeps(task->d_name);
    if (tasks)
        closedir(tasks);
    return count;
}

static void before_fork(void)
{
    const bool at_once = getenv("DMLOPS_TEST_FORKS_AT_ONCE");
    for (int ms = 0; !at_once && ms < MOST_MS && running() > 1; ms++)
        usleep(1000);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, NULL, NULL);
}
