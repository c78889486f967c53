#include "core/walk.h"

#include <string.h>

enum {
    LONG_WALK = 64,  /* places along one axis that are worth finding the way; */
    LONG_ENOUGH = 8, /* on a GPU that are worth more than longer walks along which neighbours are far from each other */
    BETWEEN = 4,     /* places between two of a walk that are worth being visited in turn: of more, caches lose track */
    FEWER = 16,      /* of the shares that are worth it, one in so many keep a GPU busy too */
    CACHE_LINE = 64,
    REMOTE = 4,       /* times as far as what is read of a row reaches: rows that begin further apart are not foreseen */
    FORESEEN = 256,   /* source bytes around what has just been read, which a CPU fetches of its own accord */
    CACHED = 1 << 16, /* source bytes that are surely still in a cache when as many more have been read */
    LEAST_GAP = 384,  /* source bytes between rows that a CPU had better read than leave out: so many, */
    MOST_GAP = 3072,  /* up to so many, */
    SPARSE = 8        /* where rows begin no further apart than so many times as far as what is read of one reaches */
};

uint32_t dml_walk_multiplier(uint32_t d)
{
    return d < 2 ? UINT32_MAX : (uint32_t)((UINT64_C(1) << 32) / d);
}

static void put_axis(dml_dispatch *dispatch, uint32_t k, const dml_axis *axis)
{
    uint32_t *to = &dispatch->table[DML_TABLE_AXES + DML_TABLE_AXIS * k];
    to[0] = (uint32_t)axis->extent;
    to[1] = dml_walk_multiplier((uint32_t)axis->extent);
    to[2] = (uint32_t)axis->src_stride;
    to[3] = (uint32_t)axis->dst_stride;
    to[4] = (uint32_t)axis->length_stride;
}

int dml_walk_list(const dml_plan *plan, int but, int *axes)
{
    int count = 0;
    for (int k = 0; k < plan->rank; k++)
        if (k != but && plan->axes[k].extent > 1)
            axes[count++] = k;
    return count;
}

void dml_walk_axes(dml_dispatch *dispatch, const dml_plan *plan, const int *axes, int count)
{
    uint32_t *table = dispatch->table, rank = (uint32_t)count;
    for (uint32_t k = 0; k < rank; k++) {
        int axis = axes[rank - 1 - k];
        put_axis(dispatch, k, &plan->axes[axis]);
        if (axis == plan->reversed)
            table[DML_TABLE_REVERSED] = k;
    }
    table[DML_TABLE_RANK] = rank;
    for (; rank < DML_MIN_AXES; rank++)
        put_axis(dispatch, rank, &(dml_axis){.extent = 1});
    dispatch->table_words = DML_TABLE_AXES + DML_TABLE_AXIS * rank;
}

/* Moves the i-th axis of a list behind the others. */
static void move_last(int *axes, int count, int i)
{
    int last = axes[i];
    memmove(&axes[i], &axes[i + 1], (size_t)(count - 1 - i) * sizeof axes[0]);
    axes[count - 1] = last;
}

/* Likewise the one to walk along: the innermost that is long, or else the longest. */
static void walk_last(const dml_plan *plan, const dml_traits *traits, int *axes, int count)
{
    int walk = count - 1, enough = traits->cpu ? LONG_WALK : LONG_ENOUGH;
    for (int i = count - 1; i >= 0 && plan->axes[axes[walk]].extent < enough; i--)
        if (plan->axes[axes[i]].extent > plan->axes[axes[walk]].extent)
            walk = i;
    if (count > 0)
        move_last(axes, count, walk);
}

void dml_walk_elements(dml_dispatch *dispatch, const dml_plan *plan, const dml_traits *traits, int *axes, int count)
{
    walk_last(plan, traits, axes, count);
    dml_walk_axes(dispatch, plan, axes, count);
}

/* Whether one axis' few places lie between those of another, on either side. A CPU reads on and on rather than write so, however many they are. */
static bool lies_between(const dml_axis *axis, const dml_axis *walk, const dml_traits *traits)
{
    bool few = axis->extent <= BETWEEN;
    return ((few || traits->cpu) && axis->extent * dml_magnitude(axis->src_stride) <= dml_magnitude(walk->src_stride)) ||
           (few && axis->extent * dml_magnitude(axis->dst_stride) <= dml_magnitude(walk->dst_stride));
}

void dml_walk_rows(dml_dispatch *dispatch, const dml_plan *plan, const dml_traits *traits, int *axes, int count)
{
    /* On a CPU in the destination's order, if that is the source's too: to find the next row is as little work where the last axis begins again. */
    bool in_order = count < 2 || dml_magnitude(plan->axes[axes[count - 1]].src_stride) <=
                                     dml_magnitude(plan->axes[axes[count - 2]].src_stride);
    if (!traits->cpu || !in_order)
        walk_last(plan, traits, axes, count);
    for (int i = count - 2; i >= 0; i--) {
        if (lies_between(&plan->axes[axes[i]], &plan->axes[axes[count - 1]], traits)) {
            move_last(axes, count, i);
            break;
        }
    }
    dml_walk_axes(dispatch, plan, axes, count);
}

bool dml_walk_defeats_prefetch(int64_t pitch, int64_t span, bool even)
{
    return pitch > REMOTE * span && (!even || span > 2 * (int64_t)CACHE_LINE);
}

/* How many rows a work group moves side by side. On a GPU as many as give every invocation a tile, if there are many. On a CPU, for which
 * neighbours are best read one after the other, one an invocation where rows begin far from each other: it waits for the beginnings of all
 * at the same time. */
static int64_t rows_abreast(const dml_traits *traits, const dml_reads *reads)
{
    int64_t group = traits->group_size, abreast = 1;
    if (traits->cpu) {
        bool gaps = !reads->streams && reads->pitch >= 2 * reads->span;
        bool far = dml_walk_defeats_prefetch(reads->pitch, reads->span, reads->even) || reads->tiles >= 2 * group;
        return reads->count >= group * traits->parallel && gaps && far ? group : 1;
    }
    while (reads->count / (2 * abreast) >= traits->parallel / FEWER && 2 * abreast * reads->tiles <= group &&
           group % (2 * abreast) == 0)
        abreast *= 2;
    return abreast;
}

/* A CPU foresees what is read on and on in one direction: where that stops or turns from row to row, each would begin with memory that nobody
 * expected. */
void dml_walk_follow(dml_dispatch *dispatch, const dml_traits *traits, const dml_reads *reads)
{
    int32_t *c = dispatch->constants;
    int64_t gap = reads->pitch - reads->span, ahead = reads->fro ? reads->pitch : gap;
    bool near = reads->pitch > FORESEEN && reads->pitch <= SPARSE * reads->span && reads->pitch <= CACHED && gap <= MOST_GAP;
    bool looks = traits->cpu && reads->count >= traits->parallel && !reads->streams && near;
    if (looks && (reads->fro || gap >= LEAST_GAP)) {
        c[DML_AHEAD] = reads->fro ? 2 : 1;
        dispatch->table[DML_TABLE_AHEAD] = (uint32_t)((ahead + CACHE_LINE - 1) / CACHE_LINE);
    } else {
        c[DML_ABREAST] = (int32_t)rows_abreast(traits, reads);
    }
}

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

void dml_walk_share(dml_dispatch *dispatch, const dml_traits *traits, int64_t rows, int64_t steps, int64_t abreast)
{
    int64_t parts = rows < traits->parallel ? (traits->parallel + rows - 1) / rows : 1;
    int64_t part = round_up((steps + parts - 1) / parts, 4 * (int64_t)traits->group_size);
    parts = (steps + part - 1) / part;
    int64_t total = rows * parts, groups = traits->max_groups;
    int64_t most = traits->cpu || traits->parallel < groups ? traits->parallel : groups;
    int64_t per_share = round_up((total + most - 1) / most, abreast);
    int64_t shares = (total + per_share - 1) / per_share;
    dispatch->groups = (uint32_t)(shares < groups ? shares : groups);
    dispatch->table[DML_TABLE_SHARES] = (uint32_t)shares;
    dispatch->table[DML_TABLE_TOTAL] = (uint32_t)total;
    dispatch->table[DML_TABLE_PER_SHARE] = (uint32_t)per_share;
    dispatch->table[DML_TABLE_ROWS] = (uint32_t)rows;
    dispatch->table[DML_TABLE_ROWS_MULTIPLIER] = dml_walk_multiplier((uint32_t)rows);
    dispatch->table[DML_TABLE_PART_TILES] = (uint32_t)part;
}
