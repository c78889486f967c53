#include "kernels/dispatch.h"

#include <string.h>

#include "kernels/kernel_list.h"

/* Bytes of the largest scalar that divides all addresses, strides and the item; where no bytes are moved, those of the
 * destination. */
static int32_t scalar_bytes(const dml_plan *plan, uint64_t src_base, uint64_t dst_base)
{
    uint64_t all = (uint64_t)plan->item | (dst_base + (uint64_t)plan->dst_offset);
    uint64_t source = src_base + (uint64_t)plan->src_offset;
    for (int k = 0; k < plan->rank; k++) {
        all |= (uint64_t)plan->axes[k].dst_stride;
        source |= (uint64_t)plan->axes[k].src_stride;
    }
    for (int k = 0; k < plan->gathered; k++)
        source |= (uint64_t)plan->gathers[k].src_stride;
    return (int32_t)dml_divisor(dml_plan_moves(plan) ? all | source : all, 8);
}

/* From an aligned address on. */
static dml_span range_of(dml_span span, uint64_t base, uint32_t alignment)
{
    span.begin -= (int64_t)((base + (uint64_t)span.begin) & (alignment - 1));
    return span;
}

/* The same for ranges of any size, so that they share pipelines. */
static int32_t segment_bits(const dml_dispatch *dispatch, const dml_traits *traits)
{
    int64_t src = dispatch->src_range.end - dispatch->src_range.begin;
    int64_t dst = dispatch->dst_range.end - dispatch->dst_range.begin;
    int32_t bits = 0;
    if (traits->tunables.segments_always || src > traits->binding || dst > traits->binding)
        while (INT64_C(2) << bits <= traits->binding)
            bits++;
    return bits;
}

/* How a kernel reads entries: whole units of bytes lie within its words of four. */
static void encode_integers(const dml_plan *plan, int32_t *constants)
{
    const dml_entries *entries = &plan->entries;
    uint64_t all = (uint64_t)(uintptr_t)entries->data | (uint64_t)(entries->offset | entries->item);
    for (int k = 0; k < plan->gathered; k++)
        all |= (uint64_t)plan->gathers[k].entry_offset;
    for (int k = 0; k < plan->rank; k++)
        all |= (uint64_t)plan->axes[k].entry_stride;
    constants[DML_ENTRY_BYTES] = (int32_t)entries->item;
    constants[DML_ENTRY_UNIT] = entries->swapped ? 1 : (int32_t)dml_divisor(all, 4);
    constants[DML_ENTRY_SIGNED] = entries->is_signed;
    constants[DML_ENTRY_SWAPPED] = entries->swapped;
}

/* What does not depend on the kernel. */
static void begin_dispatch(const dml_piece *piece, const dml_traits *traits, uint64_t src_base, uint64_t dst_base,
                           dml_dispatch *dispatch)
{
    const dml_plan *plan = &piece->plan;
    memset(dispatch, 0, offsetof(dml_dispatch, table) + offsetof(dml_table, axes));
    dispatch->src_range = range_of(dml_piece_src_span(piece), src_base, traits->alignment);
    dispatch->dst_range = range_of(dml_plan_dst_span(plan), dst_base, traits->alignment);
    int32_t *constants = dispatch->constants;
    constants[DML_GROUP_SIZE] = (int32_t)traits->group_size;
    constants[DML_SCALAR] = scalar_bytes(plan, src_base, dst_base);
    constants[DML_DYNAMIC] = traits->tunables.dynamic;
    constants[DML_SEGMENT_BITS] = segment_bits(dispatch, traits);
    dml_table *table = &dispatch->table;
    table->reversed_axis = UINT32_MAX; /* none */
    table->src_offset = (uint32_t)(plan->src_offset - dispatch->src_range.begin);
    table->dst_offset = (uint32_t)(plan->dst_offset - dispatch->dst_range.begin);
    table->entry_offset = (uint32_t)(plan->entries.offset - dml_plan_entry_span(plan).begin);
    table->src_last = (uint32_t)((dispatch->src_range.end - dispatch->src_range.begin - 1) / 8);
    if (plan->reversed >= 0) {
        table->reversed_stride = (uint32_t)plan->axes[plan->reversed].src_stride;
        table->longest = piece->longest;
        encode_integers(plan, constants);
    }
    if (plan->gathered > 0) {
        constants[DML_ENTRIES_WAY] = piece->cut ? DML_ENTRIES_CUT : DML_ENTRIES_ADVANCE;
        constants[DML_GATHERED] = plan->gathered;
        encode_integers(plan, constants);
    }
}

/* Gathered axes, behind those of the table. */
static void encode_gathers(const dml_plan *plan, dml_dispatch *dispatch)
{
    dml_table *table = &dispatch->table;
    table->gathers = (dispatch->table_bytes - (uint32_t)offsetof(dml_table, axes)) / (uint32_t)sizeof table->axes[0];
    for (int k = 0; k < plan->gathered; k++) {
        const dml_gathered *axis = &plan->gathers[k];
        table->axes[table->gathers + (uint32_t)k] = (dml_table_axis){.extent = (uint32_t)axis->extent,
                                                                     .multiplier = (uint32_t)((uint64_t)axis->extent >> 32),
                                                                     .src_stride = (uint32_t)axis->begin,
                                                                     .dst_stride = (uint32_t)((uint64_t)axis->begin >> 32),
                                                                     .entry_stride = (uint32_t)axis->entry_offset,
                                                                     .gathered_count = (uint32_t)axis->count,
                                                                     .gathered_stride = (uint32_t)axis->src_stride};
        dispatch->table_bytes += (uint32_t)sizeof table->axes[0];
    }
}

void dml_dispatch_choose(const dml_piece *piece, const dml_traits *device, uint64_t src_base, uint64_t dst_base,
                         dml_dispatch *dispatch)
{
    /* Little work is cut into few chunks. */
    dml_traits traits = *device;
    dml_tunables *tunables = &traits.tunables;
    int64_t bytes = dml_plan_bytes(&piece->plan);
    if (tunables->min_chunk > 0 && tunables->chunks > bytes / tunables->min_chunk + 1)
        tunables->chunks = (uint32_t)(bytes / tunables->min_chunk + 1);

    begin_dispatch(piece, &traits, src_base, dst_base, dispatch);
    dml_policy policy; /* of which plans, kilobytes, are not cleared */
    policy.piece = piece;
    policy.traits = &traits;
    policy.scalar = dispatch->constants[DML_SCALAR];
    policy.src = dispatch->table.src_offset;
    policy.dst = dispatch->table.dst_offset;
    dml_policy_decide(&policy);
    dispatch->kernel = policy.kernel;
    dispatch->reason = policy.reason;
    dispatch->rest_count = policy.transpose.rest_count;
    for (int i = 0; i < dispatch->rest_count; i++)
        dispatch->rests[i] = policy.transpose.rests[i];
    if (dml_kernel_list[policy.kernel].encode)
        dml_kernel_list[policy.kernel].encode(&policy, &traits, dispatch);
    if (piece->plan.gathered > 0)
        encode_gathers(&piece->plan, dispatch);
}
