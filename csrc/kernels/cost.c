#include "kernels/cost.h"

#include "base/machine.h"
#include "base/parallel.h"
#include "host/host.h"
#include "host/host_resize.h"
#include "kernels/kernel_list.h"
#include "kernels/walk.h"

enum { MOST_STEPS = 64 }; /* that are looked at; further ones cost as much */

/* A CPU's, which run a kernel; a GPU is one. */
static double device_threads(const dml_tunables *tunables)
{
    const uint32_t cores = tunables->dynamic ? (uint32_t)dml_usable_cores() : 1;
    return cores < tunables->max_groups ? cores : tunables->max_groups;
}

/* By the kernel of the first piece: all are alike, but for what is left at the ends. */
static double device_step(const dml_plan *plan, const dml_tunables *tunables)
{
    const dml_traits traits = dml_traits_of_class(tunables);
    const dml_limits limits = dml_split_limits(&traits);
    double bytes = (double)dml_plan_count(plan) * (double)plan->item, each = tunables->byte_ns;
    dml_walk walk;
    dml_piece piece;
    dml_dispatch dispatch;
    dml_walk_begin(&walk, plan, &traits, &limits, 0, 0);
    if (!dml_walk_next(&walk, &piece, &dispatch))
        return 0;
    double transfer = bytes * tunables->transfer_ns;
    const dml_kernel_info *kernel = &dml_kernel_list[dispatch.kernel];
    if (!kernel->encode)
        return transfer + bytes * tunables->copy_ns;
    if (kernel->by_scalars)
        each = tunables->scalar_ns / dispatch.constants[DML_SCALAR];
    return tunables->kernel_ns + transfer + bytes * each / device_threads(tunables);
}

/* By items, which vectors move several at a time; what is large by several threads. */
static double host_step(const dml_plan *plan)
{
    double items = (double)dml_plan_count(plan), bytes = items * (double)plan->item;
    double threads = dml_parallel_threads(bytes < (double)DML_HOST_PARALLEL ? 1 : INT64_MAX);
    return dml_host_costs.step_ns + (bytes * dml_host_costs.byte_ns + items * dml_host_costs.item_ns) / threads;
}

/* By the products that are added. */
static double resize_cost(const dml_program *program, const dml_tunables *tunables)
{
    const double products = dml_resize_products(program);
    if (!tunables) {
        const double threads = dml_parallel_threads(products < (double)DML_RESIZE_PARALLEL ? 1 : INT64_MAX);
        return dml_host_costs.call_ns + products * dml_host_costs.product_ns / threads;
    }
    const double bytes = (double)(dml_tensor_count(program->inputs) + dml_tensor_count(program->results));
    return tunables->call_ns + (double)program->count * tunables->kernel_ns + bytes * tunables->transfer_ns +
           products * tunables->product_ns / device_threads(tunables);
}

double dml_cost(const dml_program *program, const dml_tunables *tunables)
{
    if (program->resize)
        return resize_cost(program, tunables);
    int64_t seen = program->count < MOST_STEPS ? program->count : MOST_STEPS;
    double sum = 0, call = tunables ? tunables->call_ns : dml_host_costs.call_ns;
    for (int64_t i = 0; i < seen; i++) {
        dml_step step;
        dml_program_step(program, i, &step);
        step.plan.entries.data = NULL; /* not looked at */
        dml_plan_simplify(&step.plan);
        if (dml_plan_count(&step.plan) > 0)
            sum += tunables ? device_step(&step.plan, tunables) : host_step(&step.plan);
    }
    return call + (seen > 0 ? sum * (double)program->count / (double)seen : 0);
}
