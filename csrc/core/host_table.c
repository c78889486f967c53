/* Moves vectors of the result, each looked up in a few vectors of the source: pixels backwards, ::2, channels that are taken
 * apart or put together.
 *
 * The inner axes of the result are contiguous: a cell is those of them that fit into a vector, and an index of `col` is a cell.
 * A vector of the result is the OR of lookups, one in each window of 16 bytes of the source, with masks that are the same for
 * all vectors. Windows may hold bytes of the source that the plan does not move.
 */
#include "core/host_kernel.h"
#include "core/host_vector.h"

/* Bytes of the result to a block: what several rows of it read stays in the cache. */
enum { COLUMNS = 4096 };

#if defined(DML_VECTORS) && defined(__x86_64__)
#include <cpuid.h>
#define LOOKUP __attribute__((target("ssse3")))

DML_INLINE LOOKUP dml_vector look_up(dml_vector vector, dml_vector mask)
{
    return _mm_shuffle_epi8(vector, mask);
}

/* Asking is slow in virtual machines. Threads that ask at once write the same. */
static bool has_lookup(void)
{
    static _Atomic int answer;
    unsigned a, b, c = 0, d;
    if (answer == 0)
        answer = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) ? 1 : -1;
    return answer > 0;
}
#elif defined(DML_VECTORS)
#define LOOKUP

DML_INLINE dml_vector look_up(dml_vector vector, dml_vector mask)
{
    return vqtbl1q_u8(vector, mask);
}

static bool has_lookup(void)
{
    return true;
}
#endif

#ifdef DML_VECTORS
/* --- the kernel ----------------------------------------------------------------------------------------------------- */

/* What a row needs, in variables of its own: as far as the compiler knows, stores to the result could change the job. */
typedef struct lookups {
    int64_t offsets[DML_HOST_WINDOWS];
    dml_vector masks[DML_HOST_WINDOWS];
} lookups;

DML_INLINE LOOKUP dml_vector gather(const lookups *lookups, const char *src, const int windows)
{
    dml_vector vector = look_up(dml_load(src + lookups->offsets[0]), lookups->masks[0]);
    for (int w = 1; w < windows; w++)
        vector |= look_up(dml_load(src + lookups->offsets[w]), lookups->masks[w]);
    return vector;
}

/* Whether all windows of a vector are readable. */
DML_INLINE bool is_inside(const dml_host_job *job, const char *readable)
{
    return readable + job->table.low >= job->begin && readable + job->table.high + DML_HOST_VECTOR <= job->end;
}

static void move_bytes(const dml_host_job *job, const char *src, char *dst, int64_t cells)
{
    const int64_t cell = job->table.cell;
    for (int64_t i = 0; i < cells; i++)
        for (int64_t b = 0; b < cell; b++)
            dst[i * cell + b] = src[i * job->col.src + job->table.from[b]];
}

/* `whole` vectors, each of which writes 16 bytes: those behind its cells are written again. What is readable has moved by
 * `apart`. */
DML_INLINE LOOKUP void move_row(const dml_host_job *job, const char *src, int64_t apart, char *dst, int64_t cols, int64_t whole,
                                const int windows)
{
    const int64_t steps = job->table.steps, cell = job->table.cell, useful = steps * cell, advance = steps * job->col.src;
    lookups here;
    for (int w = 0; w < windows; w++) {
        here.offsets[w] = job->table.offsets[w];
        here.masks[w] = dml_load(job->table.masks[w]);
    }
    const char *from = src;
    char *to = dst, *end = dst + whole * useful;
    if (is_inside(job, src - apart) && is_inside(job, src - apart + (whole - 1) * advance))
        for (; to < end; from += advance, to += useful)
            dml_store(to, gather(&here, from, windows));
    for (; to < end; from += advance, to += useful) {
        if (is_inside(job, from - apart))
            dml_store(to, gather(&here, from, windows));
        else
            move_bytes(job, from, to, steps);
    }
    const int64_t left = cols - whole * steps;
    if (left == 0)
        return;
    from = src + (cols - steps) * job->col.src;
    if (whole > 0 && is_inside(job, from - apart)) /* overlaps the last one */
        dml_store_part(dst + (cols - steps) * cell, gather(&here, from, windows), useful);
    else
        move_bytes(job, src + whole * advance, dst + whole * useful, left);
}

/* How many vectors of 16 bytes each begin with new cells and end within a row. */
static int64_t count_whole(const dml_host_table *table, int64_t cols)
{
    int bytes = (int)(cols * table->cell), useful = (int)(table->steps * table->cell);
    return bytes < DML_HOST_VECTOR ? 0 : (bytes - DML_HOST_VECTOR) / useful + 1;
}

#define TABLE(windows)                                                                                                         \
    LOOKUP static void table_##windows(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)             \
    {                                                                                                                          \
        const int64_t whole = count_whole(&job->table, block->cols);                                                           \
        for (int64_t row = 0; row < block->rows; row++)                                                                        \
            move_row(job, src + row * job->row.src, row * job->row.apart, dst + row * job->row.dst, block->cols, whole,        \
                     windows);                                                                                                 \
    }

TABLE(1)
TABLE(2)
TABLE(3)
TABLE(4)

/* --- the choice ----------------------------------------------------------------------------------------------------- */

/* Makes the cell of as many axes as fit. The axis that is outside of it. */
static int make_cell(const dml_plan *plan, const bool *apart, dml_host_table *table)
{
    int k = plan->rank - 1;
    int64_t cell = plan->item;
    for (int64_t b = 0; b < cell; b++) {
        table->from[b] = b;
        table->apart[b] = 0;
    }
    for (; k > 0; k--) {
        const dml_axis *axis = &plan->axes[k];
        int64_t more = cell * axis->extent;
        if (more > DML_HOST_VECTOR || plan->axes[k - 1].dst_stride != more)
            break;
        for (int64_t b = cell; b < more; b++) {
            table->from[b] = table->from[b % cell] + b / cell * axis->src_stride;
            table->apart[b] = table->apart[b % cell] + (apart[k] ? b / cell * axis->src_stride : 0);
        }
        cell = more;
    }
    table->cell = cell;
    table->steps = DML_HOST_VECTOR / cell;
    for (int64_t b = cell; b < table->steps * cell; b++) {
        table->from[b] = table->from[b % cell] + b / cell * plan->axes[k].src_stride;
        table->apart[b] = table->apart[b % cell];
    }
    return k;
}

/* The byte of the lowest source offset, of those that are left. */
static int lowest(const dml_host_table *table, const bool *left)
{
    int low = -1;
    for (int b = 0; b < DML_HOST_VECTOR; b++)
        if (left[b] && (low < 0 || table->from[b] < table->from[low]))
            low = b;
    return low;
}

/* Each window begins at the lowest byte that none before it has. False if there would be too many. */
static bool make_windows(dml_host_table *table)
{
    bool left[DML_HOST_VECTOR] = {false};
    int64_t count = table->steps * table->cell;
    memset(left, true, (size_t)count);
    table->windows = 0;
    table->low = INT64_MAX;
    table->high = INT64_MIN;
    while (count > 0 && table->windows < DML_HOST_WINDOWS) {
        const int w = table->windows++, low = lowest(table, left);
        const int64_t offset = table->from[low], readable = offset - table->apart[low];
        for (int b = 0; b < DML_HOST_VECTOR; b++) {
            bool here = left[b] && table->from[b] - offset < DML_HOST_VECTOR;
            table->masks[w][b] = here ? (uint8_t)(table->from[b] - offset) : 0x80; /* which looks up 0 */
            left[b] = left[b] && !here;
            count -= here;
        }
        table->offsets[w] = offset;
        table->low = dml_smaller(table->low, readable);
        table->high = dml_larger(table->high, readable);
    }
    return count == 0;
}

/* Whether the lookups of a vector are fewer than the moves of its items; a cell of several axes saves loops, too. */
static bool pays(const dml_plan *plan, const dml_host_table *table)
{
    int64_t moves = table->steps * table->cell / plan->item;
    if (plan->item != dml_divisor((uint64_t)plan->item, DML_HOST_VECTOR))
        moves *= 2;
    int64_t least = table->cell > plan->item ? 1 : 2;
    return moves >= least * table->windows;
}

bool dml_table_choose(const dml_plan *plan, dml_host_job *job)
{
    static dml_host_kernel *const kernels[] = {NULL, table_1, table_2, table_3, table_4};
    dml_host_table *table = &job->table;
    if (plan->item > 8 || plan->axes[plan->rank - 1].dst_stride != plan->item || job->end - job->begin < DML_HOST_VECTOR ||
        !has_lookup())
        return false;
    int col = make_cell(plan, job->apart, table);
    if (job->apart[col] || plan->axes[col].extent * table->cell < 2L * DML_HOST_VECTOR || !make_windows(table) ||
        !pays(plan, table))
        return false;
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k >= col;
    int row = dml_host_nearest(plan, job->taken);
    if (row >= 0)
        job->taken[row] = true;
    job->row = dml_host_steps(plan, job, row, INT64_MAX);
    job->col = dml_host_steps(plan, job, col, COLUMNS / table->cell / table->steps * table->steps);
    job->kernel = kernels[table->windows];
    return true;
}
#else
bool dml_table_choose(const dml_plan *plan, dml_host_job *job)
{
    (void)plan, (void)job;
    return false;
}
#endif
