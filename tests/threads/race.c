/* Many threads in csrc/vk at once, over the mock: for the thread sanitizer. Exits with 0 if every copy was right; the
 * sanitizer has the last word. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/blocking.h"
#include "base/cache.h"
#include "ops/operator.h"
#include "vk/instance.h"
#include "vk/vk.h"

enum { THREADS = 8, ROUNDS = 120 };

static int wrong;

static void fail(const char *what, const dml_status *status)
{
    fprintf(stderr, "%s: %s\n", what, status->message);
    __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
}

/* Hangs where a thread that is about to block holds the context's lock. */
static _Thread_local dml_context *used;

static void about_to_block(void)
{
    uint64_t counts[DML_KERNEL_COUNT];
    if (used)
        dml_vk_counts(used, counts);
}

/* Devices are lost here, and the last thread goes on after the end. */
static void check(const char *what, dml_code code, int last, const dml_status *status)
{
    if (code && code != DML_DEVICE_LOST && !(last == THREADS && code == DML_EXITING))
        fail(what, status);
}

static dml_code run(dml_context *context, const dml_program *program, dml_operand from, dml_operand to, dml_status *status)
{
    dml_transfer transfer = {.program = program, .inputs = &from, .results = &to};
    used = context;
    return dml_vk_run(context, &transfer, status);
}

/* A window of a matrix; columns of it where `steps`, which the mock cannot do but which makes pipelines. */
static void move(unsigned seed, int last)
{
    int64_t rows = 1 + seed % 7, columns = 70000 + seed % 1000 * 16;
    dml_tensor input = {.rank = 2, .item = 1, .shape = {rows, columns}}, output;
    dml_tensor_pack(&input);
    bool steps = seed % 5 == 0;
    dml_ints args[DML_MAX_PARAMETERS] = {
        {.given = true, .count = 2, .value = {0, 0}},
        {.given = true, .count = 2, .value = {rows, columns / 2}},
        {.given = true, .count = 2, .value = {1, steps ? 1 + seed % 50 : 1}},
    };
    dml_status status;
    dml_program slice = {
        .op = &dml_op_slice, .args = args, .input_count = 1, .result_count = 1, .inputs = &input, .results = &output};
    if (dml_operator_shape(&slice, &status))
        abort();
    size_t bytes = (size_t)(rows * columns);
    char *from = dml_cache_acquire(bytes), *to = dml_cache_acquire(bytes);
    memset(from, (int)(seed % 251), bytes);
    memset(to, 255, bytes);
    dml_context *context;
    dml_code code = dml_vk_context(0, &context, &status);
    if (!code)
        code = run(context, &slice, (dml_operand){.data = from}, (dml_operand){.data = to}, &status);
    check("dml_vk_run", code, last, &status);
    if (!code && !steps)
        for (int64_t i = 0; i < rows * (columns / 2); i++)
            if (to[i] != (char)(seed % 251)) {
                fail("wrong bytes", &status);
                break;
            }
    if (code && status.in_use)
        return; /* what the device may still use is never freed */
    dml_cache_release(from);
    dml_cache_release(to);
}

/* Up, from one allocation to another, and down. */
static void stay(unsigned seed, int last)
{
    enum { BYTES = 40000 };
    static char bytes[THREADS + 2][2][BYTES];
    static dml_plan plans[THREADS + 2];
    char *from = bytes[last][0], *to = bytes[last][1];
    dml_plan *plan = &plans[last];
    dml_plan_begin(plan, BYTES);
    dml_program program;
    dml_program_of_plan(&program, plan);
    memset(from, (int)(seed % 251), BYTES);
    dml_context *context;
    dml_status status = {.code = DML_OK};
    dml_allocation *a = NULL, *b = NULL;
    dml_code code = dml_vk_context(0, &context, &status);
    if (!code)
        code = dml_allocation_create(context, BYTES, &a, &status);
    if (!code)
        code = dml_allocation_create(context, BYTES, &b, &status);
    if (!code)
        code = run(context, &program, (dml_operand){.data = from}, (dml_operand){.allocation = a}, &status);
    for (int i = 0; !code && i < 9; i++) /* together more than there is room for */
        code = run(context, &program, (dml_operand){.allocation = a}, (dml_operand){.allocation = b}, &status);
    if (!code)
        code = run(context, &program, (dml_operand){.allocation = b}, (dml_operand){.data = to}, &status);
    check("an allocation", code, last, &status);
    if (!code && memcmp(from, to, BYTES) != 0)
        fail("wrong bytes", &status);
    dml_allocation_release(a);
    dml_allocation_release(b);
}

static void give_birth(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int how;
    if (child < 0 || waitpid(child, &how, 0) != child || how != 0)
        abort();
}

static void *work(void *number)
{
    int self = (int)(intptr_t)number;
    uint64_t counts[DML_KERNEL_COUNT];
    for (unsigned i = 0; i < ROUNDS; i++) {
        move((unsigned)self * 7919 + i * 31, self);
        stay((unsigned)self * 7919 + i * 31, self);
        dml_cache_release(dml_cache_acquire(5 << 20)); /* beyond the limit */
        dml_context *context;
        dml_status status;
        dml_memory_bytes bytes;
        if (i % 16 == 0 && !dml_vk_context(0, &context, &status))
            dml_vk_counts(context, counts), dml_vk_memory(context, &bytes, &status);
        if (i % 64 == 0)
            dml_vk_abandoned(), dml_cache_clear(), dml_cache_count(), dml_vk_device_count(&status);
        if (i % 32 == 0)
            give_birth();
    }
    return NULL;
}

static void *work_on(void *none)
{
    for (unsigned i = 0; i < 200; i++)
        move(i, THREADS), stay(i, THREADS);
    return none;
}

int main(void)
{
    pthread_t threads[THREADS], late;
    dml_cache_open(4 << 20, 8 << 20);
    dml_blocking_init(about_to_block);
    dml_vk_open();
    dml_vk_override("kernel", DML_KERNEL_COPY); /* where it can move a piece: the mock runs no kernels */
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t abandoned = dml_vk_abandoned();
    pthread_create(&late, NULL, work_on, NULL);
    dml_vk_shutdown(); /* a thread goes on calling */
    pthread_join(late, NULL);
    printf("%llu abandoned\n", (unsigned long long)abandoned);
    return wrong || abandoned == 0;
}
