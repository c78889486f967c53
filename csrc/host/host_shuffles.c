/* Moves vectors of the result, each shuffled from a few vectors of the source: pixels backwards, ::2, channels that are taken
 * apart or put together.
 *
 * The inner axes of the result are contiguous: a cell is those of them that fit into a vector, and an index of `col` is a cell.
 * A vector of the result is the OR of shuffles, one of each window of 16 bytes of the source, with masks that are the same for
 * all vectors. Windows may hold bytes of the source that the plan does not move.
 */
#include "host/host_kernel.h"

#include "base/processor.h"
#include "host/host_vector.h"

/* Bytes of the result to a block: what several rows of it read stays in the cache. */
enum { COLUMNS = 4096 };

#if defined(DML_VECTORS) && defined(__x86_64__)
#define HAS_SHUFFLE dml_processor_has(DML_SSSE3)
#define SHUFFLE __attribute__((target("ssse3")))

DML_INLINE SHUFFLE dml_vector shuffle(dml_vector vector, dml_vector mask)
{
    return _mm_shuffle_epi8(vector, mask);
}
#elif defined(DML_VECTORS)
#define HAS_SHUFFLE true
#define SHUFFLE

DML_INLINE dml_vector shuffle(dml_vector vector, dml_vector mask)
{
    return vqtbl1q_u8(vector, mask);
}
#endif

#ifdef DML_VECTORS
/* --- the kernel ----------------------------------------------------------------------------------------------------- */

/* What a row needs, in variables of its own: as far as the compiler knows, stores to the result could change the job. */
typedef struct local {
    int64_t offsets[DML_HOST_WINDOWS];
    dml_vector masks[DML_HOST_WINDOWS];
} local;

DML_INLINE SHUFFLE dml_vector gather(const local *here, const char *src, const int windows)
{
    dml_vector vector = shuffle(dml_load(src + here->offsets[0]), here->masks[0]);
    for (int w = 1; w < windows; w++)
        vector |= shuffle(dml_load(src + here->offsets[w]), here->masks[w]);
    return vector;
}

/* Whether all windows of a vector are readable. */
DML_INLINE bool is_inside(const dml_host_job *job, const char *readable)
{
    return readable + job->shuffles.low >= job->begin && readable + job->shuffles.high + DML_HOST_VECTOR <= job->end;
}

static void move_bytes(const dml_host_job *job, const char *src, char *dst, int64_t cells)
{
    const int64_t cell = job->shuffles.cell;
    for (int64_t i = 0; i < cells; i++)
        for (int64_t b = 0; b < cell; b++)
            dst[i * cell + b] = src[i * job->col.src + job->shuffles.from[b]];
}

/* `whole` vectors, each of which writes 16 bytes: those behind its cells are written again. What is readable has moved by
 * `apart`. */
DML_INLINE SHUFFLE void move_row(const dml_host_job *job, const char *src, int64_t apart, char *dst, int64_t cols,
                                 int64_t whole, const int windows)
{
    const int64_t indices = job->shuffles.indices, cell = job->shuffles.cell, useful = indices * cell,
                  advance = indices * job->col.src;
    local here;
    for (int w = 0; w < windows; w++) {
        here.offsets[w] = job->shuffles.offsets[w];
        here.masks[w] = dml_load(job->shuffles.masks[w]);
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
            move_bytes(job, from, to, indices);
    }
    const int64_t left = cols - whole * indices;
    if (left == 0)
        return;
    from = src + (cols - indices) * job->col.src;
    if (whole > 0 && is_inside(job, from - apart)) /* overlaps the last one */
        dml_store_first(dst + (cols - indices) * cell, gather(&here, from, windows), useful);
    else
        move_bytes(job, src + whole * advance, dst + whole * useful, left);
}

/* How many vectors of 16 bytes each begin with new cells and end within a row. */
static int64_t count_whole(const dml_host_shuffles *shuffles, int64_t cols)
{
    int bytes = (int)(cols * shuffles->cell), useful = (int)(shuffles->indices * shuffles->cell);
    return bytes < DML_HOST_VECTOR ? 0 : (bytes - DML_HOST_VECTOR) / useful + 1;
}

#define SHUFFLES(windows)                                                                                                      \
    SHUFFLE static void shuffles_##windows(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)         \
    {                                                                                                                          \
        const int64_t whole = count_whole(&job->shuffles, block->cols);                                                        \
        for (int64_t row = 0; row < block->rows; row++)                                                                        \
            move_row(job, src + row * job->row.src, row * job->row.apart, dst + row * job->row.dst, block->cols, whole,        \
                     windows);                                                                                                 \
    }

SHUFFLES(1)
SHUFFLES(2)
SHUFFLES(3)
SHUFFLES(4)

/* --- the choice ----------------------------------------------------------------------------------------------------- */

/* Makes the cell of as many axes as fit. The axis that is outside of it. */
static int make_cell(const dml_plan *plan, const bool *apart, dml_host_shuffles *shuffles)
{
    int k = plan->rank - 1;
    int64_t cell = plan->item;
    for (int64_t b = 0; b < cell; b++) {
        shuffles->from[b] = b;
        shuffles->apart[b] = 0;
    }
    for (; k > 0; k--) {
        const dml_axis *axis = &plan->axes[k];
        int64_t more = cell * axis->extent;
        if (more > DML_HOST_VECTOR || plan->axes[k - 1].dst_stride != more)
            break;
        for (int64_t b = cell; b < more; b++) {
            shuffles->from[b] = shuffles->from[b % cell] + b / cell * axis->src_stride;
            shuffles->apart[b] = shuffles->apart[b % cell] + (apart[k] ? b / cell * axis->src_stride : 0);
        }
        cell = more;
    }
    shuffles->cell = cell;
    shuffles->indices = DML_HOST_VECTOR / cell;
    for (int64_t b = cell; b < shuffles->indices * cell; b++) {
        shuffles->from[b] = shuffles->from[b % cell] + b / cell * plan->axes[k].src_stride;
        shuffles->apart[b] = shuffles->apart[b % cell];
    }
    return k;
}

/* The byte of the lowest source offset, of those that are left. */
static int lowest(const dml_host_shuffles *shuffles, const bool *left)
{
    int low = -1;
    for (int b = 0; b < DML_HOST_VECTOR; b++)
        if (left[b] && (low < 0 || shuffles->from[b] < shuffles->from[low]))
            low = b;
    return low;
}

/* Each window begins at the lowest byte that none before it has. False if there would be too many. */
static bool make_windows(dml_host_shuffles *shuffles)
{
    bool left[DML_HOST_VECTOR] = {false};
    int64_t count = shuffles->indices * shuffles->cell;
    memset(left, true, (size_t)count);
    shuffles->windows = 0;
    shuffles->low = INT64_MAX;
    shuffles->high = INT64_MIN;
    while (count > 0 && shuffles->windows < DML_HOST_WINDOWS) {
        const int w = shuffles->windows++, low = lowest(shuffles, left);
        const int64_t offset = shuffles->from[low], readable = offset - shuffles->apart[low];
        for (int b = 0; b < DML_HOST_VECTOR; b++) {
            bool here = left[b] && shuffles->from[b] - offset < DML_HOST_VECTOR;
            shuffles->masks[w][b] = here ? (uint8_t)(shuffles->from[b] - offset) : 0x80; /* which gives 0 */
            left[b] = left[b] && !here;
            count -= here;
        }
        shuffles->offsets[w] = offset;
        shuffles->low = dml_smaller(shuffles->low, readable);
        shuffles->high = dml_larger(shuffles->high, readable);
    }
    return count == 0;
}

/* Whether the shuffles of a vector are fewer than the moves of its items; a cell of several axes saves loops, too. */
static bool pays(const dml_plan *plan, const dml_host_shuffles *shuffles)
{
    int64_t moves = shuffles->indices * shuffles->cell / plan->item;
    if (plan->item != dml_divisor((uint64_t)plan->item, DML_HOST_VECTOR))
        moves *= 2;
    int64_t least = shuffles->cell > plan->item ? 1 : 2;
    return moves >= least * shuffles->windows;
}

bool dml_host_shuffles_choose(const dml_plan *plan, dml_host_job *job)
{
    static dml_host_kernel *const kernels[] = {NULL, shuffles_1, shuffles_2, shuffles_3, shuffles_4};
    dml_host_shuffles *shuffles = &job->shuffles;
    if (plan->item > 8 || plan->axes[plan->rank - 1].dst_stride != plan->item || job->end - job->begin < DML_HOST_VECTOR ||
        !HAS_SHUFFLE)
        return false;
    int col = make_cell(plan, job->apart, shuffles);
    if (job->apart[col] || plan->axes[col].extent * shuffles->cell < 2L * DML_HOST_VECTOR || !make_windows(shuffles) ||
        !pays(plan, shuffles))
        return false;
    for (int k = 0; k < plan->rank; k++)
        job->taken[k] = k >= col;
    int row = dml_host_take_nearest(plan, job->taken);
    job->row = dml_host_blocks(plan, job, row, INT64_MAX);
    job->col = dml_host_blocks(plan, job, col, COLUMNS / shuffles->cell / shuffles->indices * shuffles->indices);
    job->kernel = kernels[shuffles->windows];
    return true;
}
#else
bool dml_host_shuffles_choose(const dml_plan *plan, dml_host_job *job)
{
    (void)plan, (void)job;
    return false;
}
#endif
