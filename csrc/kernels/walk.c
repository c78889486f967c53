#include "kernels/walk.h"

#include <string.h>

void dml_walk_begin(dml_walk *walk, const dml_plan *plan, const dml_traits *traits, const dml_limits *limits, uint64_t src_base,
                    uint64_t dst_base)
{
    walk->traits = traits;
    walk->src_base = limits->pack_src ? 0 : src_base;
    walk->dst_base = limits->pack_dst ? 0 : dst_base;
    walk->pack[DML_SRC] = limits->pack_src;
    walk->pack[DML_DST] = limits->pack_dst;
    walk->depth = 0;
    dml_split_begin(&walk->split, plan, limits);
}

static void choose(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch)
{
    dml_dispatch_choose(piece, walk->traits, walk->src_base, walk->dst_base, dispatch);
    if (dispatch->rest_count == 0)
        return;
    dml_left *left = &walk->left[walk->depth++];
    dml_plan_copy(&left->plan, &piece->plan);
    memcpy(left->rests, dispatch->rests, sizeof dispatch->rests);
    left->count = dispatch->rest_count;
    left->next = 0;
}

bool dml_walk_next_rest(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch)
{
    while (walk->depth > 0 && walk->left[walk->depth - 1].next == walk->left[walk->depth - 1].count)
        walk->depth--;
    if (walk->depth == 0)
        return false;
    dml_left *left = &walk->left[walk->depth - 1];
    piece->depth = walk->depth; /* none of what has rests was cut */
    dml_plan_take(&piece->plan, &left->plan, &left->rests[left->next++]);
    choose(walk, piece, dispatch);
    return true;
}

bool dml_walk_next_piece(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch)
{
    if (!dml_split_next(&walk->split, piece))
        return false;
    if (walk->pack[DML_SRC])
        dml_pack(walk->split.kept[DML_SRC], piece, DML_SRC, false, &walk->copies[DML_SRC]);
    if (walk->pack[DML_DST])
        dml_pack(walk->split.kept[DML_DST], piece, DML_DST, true, &walk->copies[DML_DST]);
    if (!piece->cut)
        dml_plan_simplify(&piece->plan);
    choose(walk, piece, dispatch);
    return true;
}

bool dml_walk_next(dml_walk *walk, dml_piece *piece, dml_dispatch *dispatch)
{
    return dml_walk_next_rest(walk, piece, dispatch) || dml_walk_next_piece(walk, piece, dispatch);
}
