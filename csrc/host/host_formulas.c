/* Runs formulas, a block of elements at a time. */
#include "host/host_formulas.h"

#include <string.h>

#include "base/compiler.h"
#include "host/host_kernel.h"

enum {
    BLOCK = DML_FORMULA_BLOCK,
    APART = 1024,           /* elements of a block whose neighbours share lines with those of other rows */
    BRIEF = 32,             /* elements: rows that are no longer are taken across */
    MOST_PERIOD = BLOCK / 2 /* elements after which constants come again, within a block */
};

/* What registers hold: their own cells, or, where they are as memory has them, the elements themselves. */
typedef struct machine {
    const dml_formula *formula;
    const dml_formula_loops *loops;
    const void *values[DML_FORMULA_REGISTERS];
    _Alignas(64) int64_t cells[DML_FORMULA_REGISTERS][BLOCK];
} machine;

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* Of `bytes` each, `stride` apart. One function for both, with two strides, is slower: docs/tuning.md, "Formulas". */
DML_INLINE void gather(void *to, const char *from, int64_t stride, int64_t count, const int bytes)
{
    char *made = to;
    for (int64_t i = 0; i < count; i++)
        memcpy(made + i * bytes, from + i * stride, (size_t)bytes);
}

DML_INLINE void scatter(char *to, int64_t stride, const void *from, int64_t count, const int bytes)
{
    const char *made = from;
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * stride, made + i * bytes, (size_t)bytes);
}

static void gather_any(void *to, const char *from, int64_t stride, int64_t count, int bytes)
{
    if (stride == bytes)
        memcpy(to, from, (size_t)(count * bytes));
    else if (bytes == 1)
        gather(to, from, stride, count, 1);
    else if (bytes == 2)
        gather(to, from, stride, count, 2);
    else if (bytes == 4)
        gather(to, from, stride, count, 4);
    else
        gather(to, from, stride, count, 8);
}

static void scatter_any(char *to, int64_t stride, const void *from, int64_t count, int bytes)
{
    if (stride == bytes)
        memcpy(to, from, (size_t)(count * bytes));
    else if (bytes == 1)
        scatter(to, stride, from, count, 1);
    else if (bytes == 2)
        scatter(to, stride, from, count, 2);
    else if (bytes == 4)
        scatter(to, stride, from, count, 4);
    else
        scatter(to, stride, from, count, 8);
}

/* Whether a register may be the elements themselves. */
static bool is_as_held(const machine *machine, const void *at, int64_t stride, uint8_t memory)
{
    const int bytes = dml_memory_bytes_of[memory];
    return !machine->loops->loads[memory] && stride == bytes && (uintptr_t)at % (uintptr_t)bytes == 0;
}

static void load(machine *machine, const dml_instruction *one, const char *src, int64_t stride, int64_t count)
{
    const uint8_t memory = one->a;
    dml_formula_loop *widen = machine->loops->loads[memory];
    if (is_as_held(machine, src, stride, memory)) {
        machine->values[one->to] = src;
        return;
    }
    const int64_t apart = stride > 0 && stride <= 16 && stride % 4 == 0 && (uintptr_t)src % 4 == 0 ? stride / 4 : 0;
    dml_formula_loop *fast = dml_memory_bytes_of[memory] == 4 && !widen ? machine->loops->gathers[apart] : NULL;
    int64_t narrow[BLOCK];
    machine->values[one->to] = machine->cells[one->to];
    if (fast) {
        fast(machine->cells[one->to], src, NULL, NULL, count);
        return;
    }
    gather_any(widen ? narrow : machine->cells[one->to], src, stride, count, dml_memory_bytes_of[memory]);
    if (widen)
        widen(machine->cells[one->to], narrow, NULL, NULL, count);
}

static void store(const machine *machine, const dml_instruction *one, char *dst, int64_t stride, int64_t count)
{
    const void *from = machine->values[one->a];
    dml_formula_loop *narrow = machine->loops->stores[one->b];
    int64_t narrowed[BLOCK];
    if (narrow)
        narrow(narrowed, from, NULL, NULL, count);
    if (from != dst)
        scatter_any(dst, stride, narrow ? narrowed : from, count, dml_memory_bytes_of[one->b]);
}

/* Constants of a row for each element, `stride` apart, which come again after `period` elements. */
static void fill(machine *machine, const char *rows, int64_t stride, int64_t period, int64_t count)
{
    const dml_formula *formula = machine->formula;
    for (uint32_t k = 0; k < formula->constants; k++) {
        const dml_instruction *one = &formula->code[k];
        const int bytes = one->number == DML_F32 || one->number == DML_I32 ? 4 : 8;
        char *cells = (char *)machine->cells[one->to];
        const int64_t known = dml_smaller(period, count);
        gather_any(cells, rows + one->offset, stride, known, bytes);
        for (int64_t done = known, some; done < count; done += some) {
            some = dml_smaller(done, count - done);
            memcpy(cells + done * bytes, cells, (size_t)(some * bytes));
        }
        machine->values[one->to] = cells;
    }
}

/* --- instructions --------------------------------------------------------------------------------------------------- */

static dml_formula_loop *loop_of(const machine *machine, const dml_instruction *one)
{
    if (one->operation == DML_DO_CAST)
        return machine->loops->casts[one->b][one->number];
    if (one->operation == DML_DO_NARROW)
        return machine->loops->narrows[one->b];
    return machine->loops->operations[one->operation][one->number];
}

/* A block of elements, whose constants are there. What the last operation makes goes to memory at once where it may. */
static void run_block(machine *machine, const char *src, int64_t stride, char *dst, int64_t to, int64_t count)
{
    const dml_formula *formula = machine->formula;
    const dml_instruction *last = &formula->code[formula->count - 1], *one = &formula->code[formula->constants];
    const bool at_once = is_as_held(machine, dst, to, last->b);
    load(machine, one, src, stride, count);
    for (one++; one < last; one++) {
        void *made = at_once && one + 1 == last && one->to == last->a ? (void *)dst : machine->cells[one->to];
        const bool casts = one->operation == DML_DO_CAST || one->operation == DML_DO_NARROW;
        const void *const *values = machine->values;
        loop_of(machine, one)(made, values[one->a], casts ? NULL : values[one->b], values[one->c], count);
        machine->values[one->to] = made;
    }
    store(machine, last, dst, to, count);
}

/* Rows of a block; their columns share constants, or have their own, which come again after a period. */
static void run_rows(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)
{
    const dml_host_formula *how = &job->formula;
    const dml_formula_loops *avx2 = dml_formula_loops_avx2();
    machine machine;
    machine.formula = how->formula;
    machine.loops = avx2 ? avx2 : &dml_formula_loops_plain;
    memset(machine.values, 0, sizeof machine.values);
    const int64_t most = how->period > 1 && how->period <= MOST_PERIOD ? BLOCK / how->period * how->period : BLOCK;
    const char *rows = job->entries + job->entry;
    for (int64_t row = 0; row < block->rows; row++, rows += job->row.entry) {
        const char *from = src + row * job->row.src;
        char *made = dst + row * job->row.dst;
        for (int64_t col = 0; col < block->cols; col += most) {
            const int64_t count = dml_smaller(most, block->cols - col);
            if (col == 0 || how->period > MOST_PERIOD)
                fill(&machine, rows + (how->period > MOST_PERIOD ? col * how->entry : 0), how->entry, how->period, count);
            run_block(&machine, from + col * job->col.src, job->col.src, made + col * job->col.dst, job->col.dst, count);
        }
    }
}

/* --- the choice ----------------------------------------------------------------------------------------------------- */

/* Whether the inner axis and the next are one on both sides, and the constants of the inner come again for each of the next. */
static bool comes_again(const dml_plan *plan, int inner, int next)
{
    const dml_axis *a = &plan->axes[next], *b = &plan->axes[inner];
    return b->extent <= MOST_PERIOD && a->src_stride == b->extent * b->src_stride && a->dst_stride == b->extent * b->dst_stride;
}

/* The axis that a block's elements lie along. A short row costs as much as a block does, so blocks lie along the next axis that
 * is not short, or the longest, and rows of the result are written an element of each at a time. */
static int across_short(const dml_plan *plan)
{
    int longest = plan->rank - 1;
    for (int k = plan->rank - 1; k >= 0 && plan->axes[longest].extent <= BRIEF; k--)
        if (plan->axes[k].extent > plan->axes[longest].extent)
            longest = k;
    return longest;
}

void dml_host_formulas_choose(const dml_plan *plan, dml_host_job *job)
{
    const int inner = plan->rank - 1, next = plan->rank > 1 ? inner - 1 : -1;
    const bool varies = inner >= 0 && plan->axes[inner].entry_stride != 0;
    const bool along_next = varies && next >= 0 && plan->axes[next].entry_stride == 0;
    const bool again = along_next && comes_again(plan, inner, next);
    const int across = inner < 0 || again ? inner : across_short(plan);
    const int col = across == inner && along_next && !again ? next : across, row = col == inner ? next : inner;
    const dml_axis none = {1, 0, 0, 0}, *along = col < 0 ? &none : &plan->axes[col];
    const bool apart = dml_magnitude(along->src_stride) > plan->src_item || dml_magnitude(along->dst_stride) > plan->item;
    job->formula = (dml_host_formula){.formula = plan->formula, .period = 1};
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k == col || k == row;
    job->col = dml_host_blocks(plan, job, col, apart ? APART : INT64_MAX);
    job->row = dml_host_blocks(plan, job, row, INT64_MAX);
    if (along->entry_stride != 0) {
        job->formula.entry = along->entry_stride;
        job->formula.period = again ? along->extent : INT64_MAX;
    }
    if (again) {
        const dml_axis *axis = &plan->axes[inner];
        const int64_t both = axis->extent * plan->axes[next].extent;
        job->col = (dml_host_axis){.extent = both, .block = both, .src = axis->src_stride, .dst = axis->dst_stride};
        job->row = dml_host_blocks(plan, job, -1, 1);
    }
    job->entries = (const char *)plan->entries.data + plan->entries.offset;
    job->kernel = run_rows;
}
