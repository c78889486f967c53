/* Rows: finding the pattern of a piece, and the constants that say it to shaders/rows.comp. */
#include "core/rows.h"

#include <stddef.h>

#include "core/walk.h"

enum {
    WINDOW_WORDS = 32, /* most 8-byte words that an invocation loads: the shader has room for as many */
    WINDOW_BYTES = 8 * WINDOW_WORDS,
    TILE_BYTES = 128,  /* most that it stores */
    LONG_ITEM = 129,   /* from here on items are not moved by patterns, but as rows of their own */
    SHORT_ROW = 32,    /* a row that is shorter is not worth one */
    ROW_BYTES = 128,   /* a row that is shorter is better made an inner axis of a longer one */
    EDGED_ROW = 64,    /* one with edges that is shorter is better made of words, on a CPU; and if words have the same rows, */
    EDGED_BYTES = 128, /* one shorter than that and this by the bytes of a narrow word: so much do edges cost */
    INNERS = 3,
    STREAMS = 8,
    NEAR = 64 /* source strides up to here share a window */
};

/* How a plan's axes divide into rows. */
typedef struct row_plan {
    const dml_plan *plan;
    int word;          /* bytes of the words that are stored */
    int row;           /* axis along which a row runs, or -1: a row is one item */
    int inner[INNERS]; /* axes inside a row element, the fastest first */
    int inners;
    int stream;      /* 0, or 1 + index into inner of the axis whose indices have streams of their own */
    int out;         /* axis whose indices share a window, or -1: */
    int64_t outs;    /* so many of them, a divisor of its extent */
    int64_t element; /* bytes of a row element */
    int64_t reach;   /* source bytes between the first and the last of a row element, but for the stream's */
} row_plan;

static int streams(const row_plan *rows)
{
    return rows->stream ? (int)rows->plan->axes[rows->inner[rows->stream - 1]].extent : 1;
}

/* Row elements in the fewest whole words. */
static int64_t period(const row_plan *rows)
{
    return rows->word / dml_divisor((uint64_t)rows->element, rows->word);
}

static int64_t window_words(const row_plan *rows, int64_t elements, int64_t step)
{
    return ((elements - 1) * dml_magnitude(step) + rows->reach + 7) / 8;
}

static bool fits(const row_plan *rows, int64_t elements, int64_t step)
{
    return elements * rows->element <= TILE_BYTES && dml_magnitude(step) <= WINDOW_BYTES &&
           (window_words(rows, elements, step) + 1) * streams(rows) <= WINDOW_WORDS;
}

static bool can_be_row(const row_plan *rows, int k)
{
    const dml_plan *plan = rows->plan;
    return plan->axes[k].length_stride == 0 && (plan->reversed != k || rows->inners == 0) &&
           fits(rows, period(rows), plan->axes[k].src_stride);
}

static bool make_inner(row_plan *rows, int k)
{
    const dml_axis *axis = &rows->plan->axes[k];
    int64_t reach = (axis->extent - 1) * dml_magnitude(axis->src_stride);
    bool near = dml_magnitude(axis->src_stride) <= NEAR && reach <= WINDOW_BYTES;
    if (rows->inners == INNERS || rows->plan->reversed == k || axis->length_stride != 0 ||
        rows->element * axis->extent > TILE_BYTES || (!near && (rows->stream || axis->extent > STREAMS)))
        return false;
    rows->inner[rows->inners++] = k;
    rows->element *= axis->extent;
    if (near)
        rows->reach += reach;
    else
        rows->stream = rows->inners;
    return true;
}

/* Finds the row axis among those that are contiguous in the destination: the innermost that makes rows long enough, or the one
 * that makes the longest. What is further in becomes part of a row's elements. */
static bool find_pattern(row_plan *rows)
{
    const dml_plan *plan = rows->plan;
    row_plan trial = *rows;
    int64_t longest = 0;
    trial.element = trial.reach = plan->item;
    for (int k = plan->rank - 1; k >= 0 && plan->axes[k].dst_stride == trial.element; k--) {
        int64_t bytes = plan->axes[k].extent * trial.element;
        if (bytes > longest && can_be_row(&trial, k)) {
            longest = bytes;
            *rows = trial;
            rows->row = k;
        }
        if (longest >= ROW_BYTES || !make_inner(&trial, k))
            break;
    }
    return longest > 0;
}

static int64_t out_reach(const dml_axis *axis, int64_t outs)
{
    return (outs - 1) * dml_magnitude(axis->src_stride);
}

/* How many indices of an axis may share a window. */
static int64_t most_outs(const row_plan *rows, const dml_axis *axis, int64_t elements, int64_t step)
{
    int64_t outs = axis->extent, room = TILE_BYTES / (elements * rows->element);
    for (outs = outs < room ? outs : room; outs > 1; outs--) {
        row_plan trial = *rows;
        trial.reach += out_reach(axis, outs);
        if (axis->extent % outs == 0 && fits(&trial, elements, step))
            break;
    }
    return outs;
}

/* An outer axis whose source interleaves with the row's, as the columns of space_to_depth's blocks: one window serves all rows along it, or as many of
 * them as it has room for. */
static void find_out(row_plan *rows, int64_t elements, int64_t step)
{
    const dml_plan *plan = rows->plan;
    rows->outs = 1;
    if (rows->row < 0 || rows->stream || plan->reversed == rows->row)
        return;
    for (int k = 0; k < rows->row; k++) {
        const dml_axis *axis = &plan->axes[k];
        if (k == plan->reversed || axis->length_stride != 0 || axis->dst_stride % rows->word != 0 ||
            dml_magnitude(axis->src_stride) >= dml_magnitude(step))
            continue;
        int64_t outs = most_outs(rows, axis, elements, step);
        if (outs > rows->outs) {
            rows->out = k;
            rows->outs = outs;
        }
    }
    if (rows->out >= 0)
        rows->reach += out_reach(&plan->axes[rows->out], rows->outs);
}

/* What of an axis goes into the table, if rows differ along it. */
static dml_axis outer_axis(const row_plan *rows, int k)
{
    dml_axis axis = rows->plan->axes[k];
    if (k == rows->out) {
        axis.extent /= rows->outs;
        axis.src_stride *= rows->outs;
        axis.dst_stride *= rows->outs;
    }
    return axis;
}

static bool is_outer(const row_plan *rows, int k)
{
    bool inner = rows->inners > 0 && k >= rows->inner[rows->inners - 1];
    return outer_axis(rows, k).extent > 1 && k != rows->row && !inner;
}

/* What all rows' first destination bytes are a multiple of, up to a word. */
static int64_t row_alignment(const row_plan *rows, uint32_t dst)
{
    const dml_plan *plan = rows->plan;
    uint64_t all = dst;
    for (int k = 0; k < plan->rank; k++)
        if (is_outer(rows, k))
            all |= (uint64_t)plan->axes[k].dst_stride;
    return dml_divisor(all, rows->word);
}

/* Source offset of a tile's byte from its first element's, within its stream; `stream` says which. */
static int64_t pattern_at(const int32_t *c, int64_t element_bytes, int64_t step, int64_t byte, int64_t *stream)
{
    int64_t within = byte % element_bytes, index = within / c[DML_ITEM];
    int64_t offset = byte / element_bytes * step + within % c[DML_ITEM];
    *stream = 0;
    for (int i = 0; i < INNERS; i++) {
        int64_t extent = c[DML_EXTENT_0 + 2 * i], x = index % extent;
        index /= extent;
        offset += x * c[DML_STRIDE_0 + 2 * i]; /* that of a stream is 0 */
        if (c[DML_STREAM] == i + 1)
            *stream = x;
    }
    return offset;
}

/* The lowest source offset of the pattern, outs included, and the most bytes that stay together in it. */
static void measure_pattern(const int32_t *c, int64_t element_bytes, int64_t step, int32_t *low, int32_t *unit)
{
    int64_t tile = (int64_t)c[DML_WORD] * c[DML_WORDS], least = 0, stream;
    for (int64_t byte = 0; byte < tile; byte++) {
        int64_t at = pattern_at(c, element_bytes, step, byte, &stream);
        least = at < least ? at : least;
    }
    int64_t outs = (int64_t)(c[DML_OUTS] - 1) * c[DML_OUT_STEP];
    *low = (int32_t)(least + (outs < 0 ? outs : 0));
    for (*unit = 8; *unit > 1; *unit /= 2) {
        bool together = c[DML_OUT_STEP] % *unit == 0;
        for (int64_t byte = 0; together && byte < tile; byte++) {
            int64_t first_stream, first = pattern_at(c, element_bytes, step, byte / *unit * *unit, &first_stream);
            int64_t at = pattern_at(c, element_bytes, step, byte, &stream);
            together = stream == first_stream && at == first + byte % *unit && (first - *low) % *unit == 0;
        }
        if (together)
            return;
    }
}

static int32_t inverse_mod_32(int64_t odd)
{
    for (int32_t x = 1;; x += 2)
        if (x * odd % 32 == 1)
            return x;
}

static void set_pattern(const row_plan *rows, int64_t elements, int64_t step, int32_t *c)
{
    for (int i = 0; i < INNERS; i++) {
        const dml_axis *axis = i < rows->inners ? &rows->plan->axes[rows->inner[i]] : NULL;
        c[DML_EXTENT_0 + 2 * i] = axis ? (int32_t)axis->extent : 1;
        c[DML_STRIDE_0 + 2 * i] = axis && rows->stream != i + 1 ? (int32_t)axis->src_stride : 0;
    }
    c[DML_ITEM] = (int32_t)(rows->row < 0 ? step : rows->plan->item);
    c[DML_STREAM] = rows->stream;
    c[DML_COUNT] = (int32_t)elements;
    c[DML_WORD] = rows->word;
    c[DML_WORDS] = (int32_t)(elements * rows->element / rows->word);
    c[DML_OUTS] = (int32_t)rows->outs;
    c[DML_OUT_STEP] = rows->out < 0 ? 0 : (int32_t)rows->plan->axes[rows->out].src_stride;
    c[DML_WINDOW] = (int32_t)window_words(rows, elements, step);
    c[DML_HEAD] = inverse_mod_32(rows->element / (rows->element & -rows->element) % 32);
    c[DML_STEP] = (int32_t)step;
    if (c[DML_REVERSED] == 2) {
        measure_pattern(c, rows->element, step, &c[DML_LOW_2], &c[DML_UNIT_2]);
        c[DML_STEP] = (int32_t)-step;
    }
    measure_pattern(c, rows->element, c[DML_STEP], &c[DML_LOW], &c[DML_UNIT]);
}

/* What an outer axis, or a stream, adds to a window's address. */
static uint64_t window_strides(const row_plan *rows)
{
    uint64_t all = rows->stream ? (uint64_t)rows->plan->axes[rows->inner[rows->stream - 1]].src_stride : 0;
    for (int k = 0; k < rows->plan->rank; k++)
        if (is_outer(rows, k))
            all |= (uint64_t)outer_axis(rows, k).src_stride;
    return all;
}

/* More elements to a tile until what it loads, of all streams, is worth the trouble: much more and registers run out, the sooner where bytes are put
 * together or left out. But windows that begin beside a pair of words have one more to load each, which is the less the longer they are; a CPU is
 * glad of the longest where the source is only read on and on. Of a short row half of the invocations have a tile, at least. */
static int64_t tile_elements(const row_plan *rows, const dml_traits *traits, int64_t extent, int64_t step, int32_t edge,
                             int64_t head, uint32_t src)
{
    int64_t elements = period(rows), grain = traits->grain;
    uint64_t begins = window_strides(rows) | (uint64_t)(elements * step) | (uint64_t)(src + head * step);
    bool reversed = rows->row >= 0 && rows->plan->reversed == rows->row;
    bool close = dml_magnitude(step) <= rows->element, onward = close && step > 0 && !reversed;
    bool beside = head < 0 || (onward && begins % 16 != 0);
    bool most = beside && onward && streams(rows) <= 2 && traits->cpu;
    bool much = beside || ((close || rows->stream) && (rows->word == 32 || edge > 1));
    int64_t enough = (grain / 2 << (much + most)) / streams(rows); /* what is most is much */
    while ((elements - 1) * dml_magnitude(step) + rows->reach < enough && fits(rows, 2 * elements, step) &&
           elements * traits->group_size <= extent)
        elements *= 2;
    return elements;
}

/* Elements before the first whole word of a row, where all rows have as many; else -1. */
static int64_t common_head(const row_plan *rows, uint32_t dst)
{
    const dml_plan *plan = rows->plan;
    if (plan->reversed == rows->row && rows->row >= 0)
        return -1;
    for (int k = 0; k < plan->rank; k++)
        if (is_outer(rows, k) && plan->axes[k].dst_stride % rows->word != 0)
            return -1;
    int64_t head = 0;
    while ((dst + head * rows->element) % rows->word != 0)
        head++;
    return head;
}

/* What all windows' addresses are a multiple of. Where heads differ a window may start at any element, and where a row's last tile may overlap the one
 * before it, at any whole word's. */
static int32_t window_align(const row_plan *rows, const int32_t *c, int64_t step, int64_t head, bool overlap, uint32_t src)
{
    uint64_t all = window_strides(rows) | (uint64_t)((overlap ? period(rows) : c[DML_COUNT]) * step);
    if (head < 0) {
        all |= (uint64_t)step;
        head = 0;
    }
    all |= (uint64_t)(src + head * step + c[DML_LOW]);
    if (c[DML_REVERSED] == 2)
        all |= (uint64_t)c[DML_LOW_2] | (uint64_t)c[DML_LOW];
    int64_t align = dml_divisor(all, c[DML_WINDOW] % 4 == 0 ? 32 : 16); /* four words at a time, or two */
    return align < 8 ? 1 : (int32_t)align;
}

/* Whether rows with edges are so short that these are most of the work, and near enough to each other for words to find in a cache what the next
 * one needs. */
static bool are_better_words(const row_plan *rows, const dml_words *words, int64_t extent, int64_t step, int32_t edge)
{
    bool same = rows->inners == 0 && rows->row == words->axis; /* as rows of words: else each of these has several of those */
    if (!same && words->axis >= 0)
        return false;
    int64_t pitch = 0;
    for (int k = 0; k < rows->plan->rank; k++)
        if (is_outer(rows, k))
            pitch = dml_magnitude(outer_axis(rows, k).src_stride);
    int64_t span = (extent - 1) * dml_magnitude(step) + rows->reach;
    int64_t enough = same ? (EDGED_ROW + EDGED_BYTES / edge) / dml_magnitude(words->ratio) : EDGED_ROW;
    return extent * rows->element < enough && !dml_walk_defeats_prefetch(pitch, span, false);
}

/* Rows of words of this size; false where there are none, or larger words would only leave more to be moved by narrow ones. */
static bool find_rows(const dml_plan *plan, const dml_traits *traits, int word, const dml_words *words, dml_dispatch *dispatch,
                      row_plan *rows, int64_t *extent)
{
    int32_t *c = dispatch->constants;
    uint32_t src = dispatch->table[DML_TABLE_SRC], dst = dispatch->table[DML_TABLE_DST];
    int64_t step;
    *rows = (row_plan){.plan = plan, .word = word, .row = -1, .out = -1};
    if (plan->item < LONG_ITEM && find_pattern(rows) &&
        row_alignment(rows, dst) >= dml_divisor((uint64_t)rows->element, word)) {
        *extent = plan->axes[rows->row].extent;
        step = plan->axes[rows->row].src_stride;
    } else {
        if (plan->item < 16)
            return false;
        /* The row is one item, and its elements are narrow words. */
        step = c[DML_EDGE];
        *rows = (row_plan){.plan = plan, .word = word, .row = -1, .out = -1, .element = step, .reach = step};
        *extent = plan->item / step;
    }
    int64_t long_row = 32 * (int64_t)traits->group_size, bytes = *extent * rows->element;
    if (bytes < (word == 32 ? long_row : SHORT_ROW))
        return false;
    int64_t head = common_head(rows, dst);
    int64_t elements = tile_elements(rows, traits, *extent, step, c[DML_EDGE], head, src);
    row_plan of_16 = *rows;
    of_16.word = 16;
    find_out(rows, elements, step);
    if (word == 32) {
        find_out(&of_16, tile_elements(&of_16, traits, *extent, step, c[DML_EDGE], head, src), step);
        if (of_16.outs > rows->outs) /* one window for more rows is worth more */
            return false;
    }
    bool edges = head != 0 || *extent % period(rows) != 0, overlap = edges || *extent % elements != 0;
    bool narrow = c[DML_EDGE] == 1 || (c[DML_EDGE] == 2 && bytes < 2 * long_row);
    if (edges &&
        ((word == 32 && narrow) || (words && traits->cpu && are_better_words(rows, words, *extent, step, c[DML_EDGE]))))
        return false;

    if (plan->reversed >= 0)
        c[DML_REVERSED] = plan->reversed == rows->row ? 2 : 1;
    set_pattern(rows, elements, step, c);
    c[DML_ALIGN] = window_align(rows, c, step, head, overlap, src);
    if (!overlap)
        c[DML_EDGE] = 0;
    return true;
}

/* Whether the source is read to and fro: rows follow each other in one direction, and what is in them in the other. */
static bool goes_to_and_fro(const row_plan *rows, int last)
{
    const dml_plan *plan = rows->plan;
    bool row_back = rows->row >= 0 && plan->axes[rows->row].src_stride < 0, back = plan->axes[last].src_stride < 0;
    return row_back != back || (plan->reversed >= 0 && (plan->reversed == rows->row || plan->reversed == last));
}

/* What is read of rows that follow each other along the axis `last`. */
static dml_reads row_reads(const row_plan *rows, const int32_t *c, int64_t count, int64_t extent, int last)
{
    return (dml_reads){.count = count,
                       .tiles = (extent + c[DML_COUNT] - 1) / c[DML_COUNT],
                       .span = (extent - 1) * dml_magnitude(c[DML_STEP]) + rows->reach,
                       .pitch = dml_magnitude(outer_axis(rows, last).src_stride),
                       .fro = goes_to_and_fro(rows, last),
                       .streams = rows->stream != 0,
                       .even = c[DML_EDGE] == 0};
}

bool dml_rows_choose(const dml_piece *piece, const dml_traits *traits, const dml_words *words, dml_dispatch *dispatch)
{
    const dml_plan *plan = &piece->plan;
    row_plan rows;
    int64_t extent, count = 1;
    bool wide = traits->grain >= 32 && find_rows(plan, traits, 32, words, dispatch, &rows, &extent);
    if (!wide && !find_rows(plan, traits, 16, words, dispatch, &rows, &extent))
        return false;

    uint32_t *table = dispatch->table;
    int axes[DML_MAX_AXES], outer = 0;
    dml_plan left;
    dml_plan_copy(&left, plan);
    for (int k = 0; k < plan->rank; k++) {
        left.axes[k] = outer_axis(&rows, k);
        if (is_outer(&rows, k)) {
            axes[outer++] = k;
            count *= left.axes[k].extent;
        }
    }
    dml_walk_rows(dispatch, &left, traits, axes, outer);
    table[DML_TABLE_EXTENT] = (uint32_t)extent;
    if (rows.stream)
        table[DML_TABLE_STREAM] = (uint32_t)plan->axes[rows.inner[rows.stream - 1]].src_stride;
    if (rows.out >= 0)
        table[DML_TABLE_OUT] = (uint32_t)plan->axes[rows.out].dst_stride;
    int32_t *c = dispatch->constants;
    c[DML_ABREAST] = 1;
    if (outer > 0) {
        dml_reads reads = row_reads(&rows, c, count, extent, axes[outer - 1]);
        dml_walk_follow(dispatch, traits, &reads);
    }
    int64_t tiles = extent / c[DML_COUNT] + 2; /* at the most: either part of a reversed row may end with one of its own */
    dml_walk_share(dispatch, traits, count, tiles, c[DML_ABREAST]);
    return true;
}
