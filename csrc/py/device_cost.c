#include "py/device_cost.h"

#include <string.h>

#include "kernels/cost.h"
#include "vk/vk.h"

/* Whether a device of that class may take less time than the host, which takes `host`. */
static bool may_beat(const dml_program *program, const dml_tunables *tunables, double host)
{
    return tunables->call_ns < host && dml_cost(program, tunables) < host;
}

bool dml_device_lacks(const dml_choice *choice, const dml_program *program)
{
    dml_context *context;
    dml_status status;
    dml_code code;
    Py_BEGIN_ALLOW_THREADS;
    code = dml_vk_context(choice->index, &context, &status);
    if (!code)
        code = dml_vk_check(context, program, &status);
    Py_END_ALLOW_THREADS;
    return code == DML_NO_DEVICE || code == DML_VALUE_ERROR;
}

int dml_device_by_cost(const dml_state *state, const dml_program *program, dml_choice *choice)
{
    if (!choice->automatic)
        return 0;
    const double host = program->formulas ? 0 : dml_cost(program, NULL); /* devices have to try formulas first */
    bool faster = may_beat(program, &dml_tunables_cpu, host) || may_beat(program, &dml_tunables_gpu, host);
    if (faster && dml_device_settle(state, choice) < 0)
        return -1;
    if (faster && !choice->host) {
        dml_device_info info;
        dml_device_look(choice->index, &info);
        bool cpu = strcmp(info.type, "cpu") == 0;
        faster = may_beat(program, cpu ? &dml_tunables_cpu : &dml_tunables_gpu, host) && !dml_device_lacks(choice, program);
    }
    if (!faster)
        *choice = dml_host;
    return 0;
}
