/* Transposes square tiles in registers: for results that are contiguous along one axis, sources along another.
 *
 * Rows are contiguous in the result, columns in the source. Both are chains of axes: those of a patch of 7 x 7 fill vectors
 * together. Where each begins on the other side stands in a list of offsets, for a block at a time.
 *
 * A tile is a matrix, row by row, in vectors. To zip the first half of the vectors with the second rotates the bits of each
 * item's index by one, so that as many rounds as a row's index has bits make it the transpose. Tiles are square, unless there
 * are 2, 4 or 8 rows or columns and no more, and a vector goes on with what lies behind these.
 */
#include "host/host_kernel.h"
#include "host/host_vector.h"

#ifdef DML_VECTORS
enum { LINE = 64, SETS = 4096 }; /* bytes of a cache line; apart by a multiple of these, lines meet in few sets of a cache */

/* --- the kernel ----------------------------------------------------------------------------------------------------- */

/* log2 of a power of two up to 16. */
DML_INLINE int bits_of(const int power)
{
    return (power > 1) + (power > 2) + (power > 4) + (power > 8);
}

DML_INLINE void transpose(dml_vector *v, const int vectors, const int rounds, const int item)
{
    DML_UNROLL
    for (int round = 0; round < rounds; round++) {
        dml_vector zipped[DML_HOST_VECTOR];
        DML_UNROLL
        for (int i = 0; i < vectors; i++) {
            const dml_vector a = v[i / 2], b = v[i / 2 + vectors / 2];
            zipped[i] = i % 2 ? dml_zip_high(a, b, item) : dml_zip_low(a, b, item);
        }
        DML_UNROLL
        for (int i = 0; i < vectors; i++)
            v[i] = zipped[i];
    }
}

/* The offsets are those of the tile's first row and column. */
DML_INLINE void move_tile(const char *src, const int64_t *rows, char *dst, const int64_t *cols, const int item,
                          const int tile_rows, const int tile_cols)
{
    const int vectors = tile_rows < tile_cols ? tile_rows : tile_cols;
    const int64_t rows_every = tile_rows / vectors, cols_every = tile_cols / vectors;
    dml_vector v[DML_HOST_VECTOR];
    DML_UNROLL
    for (int i = 0; i < vectors; i++)
        v[i] = dml_load(src + rows[i * rows_every]);
    transpose(v, vectors, bits_of(tile_rows), item);
    DML_UNROLL
    for (int i = 0; i < vectors; i++)
        dml_store(dst + cols[i * cols_every], v[i]);
}

/* A square tile of which only `rows` and `cols` are moved. A column may be written beyond its end where the next begins. */
DML_INLINE void move_partial(const dml_host_job *job, const char *src, const int64_t *row_offsets, char *dst,
                             const int64_t *col_offsets, const dml_host_block *moved, const int item)
{
    const int side = DML_HOST_VECTOR / item;
    const int64_t bytes = moved->rows * item;
    char ends[DML_HOST_VECTOR][DML_HOST_VECTOR] = {{0}};
    dml_vector v[DML_HOST_VECTOR];
    const bool inside = src + job->tiles.reach + DML_HOST_VECTOR <= job->end;
    for (int i = 0; i < moved->rows && !inside; i++)
        memcpy(ends[i], src + row_offsets[i], (size_t)(moved->cols * item));
    DML_UNROLL
    for (int i = 0; i < side; i++)
        v[i] = dml_load(inside ? src + row_offsets[i < moved->rows ? i : 0] : ends[i]);
    transpose(v, side, bits_of(side), item);
    DML_UNROLL
    for (int i = 0; i < side; i++) {
        if (i + 1 < moved->cols && bytes >= DML_HOST_VECTOR / 2 && col_offsets[i + 1] - col_offsets[i] == bytes)
            dml_store(dst + col_offsets[i], v[i]);
        else if (i < moved->cols)
            dml_store_first(dst + col_offsets[i], v[i], bytes);
    }
}

/* The offsets of `count` indices of a chain, or only of each `every`th. */
static void fill_offsets(int64_t *offsets, const dml_host_chain *chain, int64_t first, int64_t count, int64_t every)
{
    for (int64_t i = 0; i < count;) {
        int64_t index = first + i, offset = 0, end = dml_smaller(count, i + chain->extents[0] - index % chain->extents[0]);
        for (int k = 0; k < chain->rank; k++) {
            offset += index % chain->extents[k] * chain->strides[k];
            index /= chain->extents[k];
        }
        for (; i < end; i += every, offset += every * chain->strides[0])
            offsets[i] = offset;
    }
}

static void find_offsets(dml_host_tiles *tiles, const dml_host_block *block, int64_t rows_every, int64_t cols_every)
{
    if (tiles->row != block->row)
        fill_offsets(tiles->row_offsets, &tiles->rows, block->row, block->rows, rows_every);
    if (tiles->col != block->col)
        fill_offsets(tiles->col_offsets, &tiles->cols, block->col, block->cols, cols_every);
    tiles->row = block->row;
    tiles->col = block->col;
}

/* A block that is smaller than a tile on a side. */
DML_INLINE void move_narrow(dml_host_job *job, const char *src, char *dst, const dml_host_block *block, const int item)
{
    const int64_t side = DML_HOST_VECTOR / item, rows = dml_smaller(block->rows, side), cols = dml_smaller(block->cols, side);
    const dml_host_block moved = {0, 0, rows, cols};
    find_offsets(&job->tiles, block, 1, 1);
    for (int64_t c = 0; c < block->cols; c += cols) {
        int64_t col = dml_smaller(c, block->cols - cols);
        for (int64_t r = 0; r < block->rows; r += rows) {
            int64_t row = dml_smaller(r, block->rows - rows);
            move_partial(job, src + col * item, job->tiles.row_offsets + row, dst + row * item, job->tiles.col_offsets + col,
                         &moved, item);
        }
    }
}

/* Columns of a whole block in the result, which evict each other before they are full. */
static void prefetch(const char *dst, const int64_t *cols, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t line = 0; line < DML_HOST_BLOCK; line += LINE)
            __builtin_prefetch(dst + cols[i] + line, 1);
}

/* The last tiles of a block overlap those before them. */
DML_INLINE void move_block(dml_host_job *job, const char *src, char *dst, const dml_host_block *block, const int item,
                           const int tile_rows, const int tile_cols)
{
    const int vectors = tile_rows < tile_cols ? tile_rows : tile_cols;
    if (block->rows < tile_rows || block->cols < tile_cols) {
        move_narrow(job, src, dst, block, item);
        return;
    }
    find_offsets(&job->tiles, block, tile_rows / vectors, tile_cols / vectors);
    const bool prefetches = (item == 2 || item == 4) && tile_rows == tile_cols && block->rows * item == DML_HOST_BLOCK &&
                            job->tiles.cols.strides[0] % SETS == 0;
    for (int64_t c = 0; c < block->cols; c += tile_cols) {
        int64_t col = dml_smaller(c, block->cols - tile_cols);
        if (prefetches && c * item % LINE == 0)
            prefetch(dst, job->tiles.col_offsets + c, dml_smaller(LINE / item, block->cols - c));
        for (int64_t r = 0; r < block->rows; r += tile_rows) {
            int64_t row = dml_smaller(r, block->rows - tile_rows);
            move_tile(src + col * item, job->tiles.row_offsets + row, dst + row * item, job->tiles.col_offsets + col, item,
                      tile_rows, tile_cols);
        }
    }
}

#define TILES(item, rows, cols)                                                                                                \
    static void tiles_##item##_##rows##_##cols(dml_host_job *job, const char *src, char *dst, const dml_host_block *block)     \
    {                                                                                                                          \
        move_block(job, src + block->col * (item), dst + block->row * (item), block, item, rows, cols);                        \
    }

/* An item's bytes, rows and columns; square ones last of their item. */
/* clang-format off */
#define SHAPES(X) \
    X(1, 16, 8) X(1, 16, 4) X(1, 16, 2) X(1, 8, 16) X(1, 4, 16) X(1, 2, 16) X(1, 16, 16) \
    X(2, 8, 4) X(2, 8, 2) X(2, 4, 8) X(2, 2, 8) X(2, 8, 8) \
    X(4, 4, 2) X(4, 2, 4) X(4, 4, 4) \
    X(8, 2, 2)
/* clang-format on */
SHAPES(TILES)

/* --- the choice ----------------------------------------------------------------------------------------------------- */

typedef struct shape {
    int64_t item, rows, cols;
    dml_host_kernel *kernel;
} shape;

#define SHAPE(item, rows, cols) {item, rows, cols, tiles_##item##_##rows##_##cols},
static const shape shapes[] = {SHAPES(SHAPE)};

/* Whether a chain of all `few` indices lets vectors of the other go on from one of its indices to the next. */
static bool goes_on(const dml_host_chain *few, const dml_host_chain *many, int64_t extent, int64_t side, int64_t item)
{
    return few->extent == extent && many->strides[0] == extent * item && many->extents[0] % (side / extent) == 0;
}

static const shape *choose_shape(const dml_host_tiles *tiles, int64_t item)
{
    const shape *s = shapes;
    int64_t side = DML_HOST_VECTOR / item;
    while (s->item != item || (s->cols < s->rows && !goes_on(&tiles->cols, &tiles->rows, s->cols, side, item)) ||
           (s->rows < s->cols && !goes_on(&tiles->rows, &tiles->cols, s->rows, side, item)))
        s++;
    return s;
}

/* Chains in the making: of rows, which continue each other in the result, or of columns, in the source. */
typedef struct chains {
    const dml_plan *plan;
    dml_host_tiles *tiles;
    const bool *apart;
    bool *taken;
} chains;

static void extend(const chains *c, bool rows, int k)
{
    dml_host_chain *chain = rows ? &c->tiles->rows : &c->tiles->cols;
    const dml_axis *axis = &c->plan->axes[k];
    c->taken[k] = true;
    chain->extents[chain->rank] = axis->extent;
    chain->strides[chain->rank++] = rows ? axis->src_stride : axis->dst_stride;
    chain->extent *= axis->extent;
    if (rows && !c->apart[k])
        c->tiles->reach += dml_larger(0, (axis->extent - 1) * axis->src_stride);
}

/* Adds the axis that continues the chain. False if there is none. */
static bool continue_chain(const chains *c, bool rows)
{
    const dml_host_chain *chain = rows ? &c->tiles->rows : &c->tiles->cols;
    for (int k = c->plan->rank - 1; k >= 0 && chain->rank < DML_HOST_CHAIN; k--) {
        const dml_axis *axis = &c->plan->axes[k];
        if (!c->taken[k] && (rows ? axis->dst_stride : axis->src_stride) == chain->extent * c->plan->item) {
            extend(c, rows, k);
            return true;
        }
    }
    return false;
}

/* An axis that continues both goes to the shorter one. */
static void make_chains(const chains *c, int row, int col)
{
    dml_host_tiles *tiles = c->tiles;
    tiles->rows = tiles->cols = (dml_host_chain){.extent = 1};
    tiles->reach = 0;
    extend(c, true, row);
    extend(c, false, col);
    for (bool more = true; more;) {
        bool rows = tiles->rows.extent <= tiles->cols.extent;
        more = continue_chain(c, rows) || continue_chain(c, !rows);
    }
}

dml_tiles_fit dml_host_tiles_choose(const dml_plan *plan, dml_host_job *job)
{
    dml_host_tiles *tiles = &job->tiles;
    bool taken[DML_MAX_AXES] = {false};
    const int64_t item = plan->item, side = DML_HOST_VECTOR / item;
    int row = plan->rank - 1, col = dml_host_take_nearest(plan, taken);
    if (item > 8 || (item & (item - 1)) || col == row || plan->axes[row].dst_stride != item ||
        plan->axes[col].src_stride != item)
        return DML_TILES_NONE;
    make_chains(&(chains){plan, tiles, job->apart, taken}, row, col);
    const shape *shape = choose_shape(tiles, item);
    bool best = shape->cols < shape->rows ? item == 1 || shape->cols >= 4 : shape->rows < shape->cols && shape->rows >= 4;
    if (!best && tiles->cols.extent < 5 && tiles->cols.extent < side)
        return DML_TILES_NONE;
    memcpy(job->taken, taken, (size_t)plan->rank);
    tiles->row = tiles->col = -1;
    job->kernel = shape->kernel;
    const int64_t block = DML_HOST_BLOCK / item, advance = dml_magnitude(tiles->rows.strides[0]) * block;
    job->row = (dml_host_axis){.extent = tiles->rows.extent, .block = block, .advance = advance};
    job->col = (dml_host_axis){.extent = tiles->cols.extent, .block = block, .advance = DML_HOST_BLOCK};
    return best ? DML_TILES_BEST : DML_TILES_GOOD;
}
#else
dml_tiles_fit dml_host_tiles_choose(const dml_plan *plan, dml_host_job *job)
{
    (void)plan, (void)job;
    return DML_TILES_NONE;
}
#endif
