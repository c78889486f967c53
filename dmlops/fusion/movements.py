"""Movements as chains of views, reshapes and joins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.fusion.graph import Constant, Join, Node, Reshape, Take, View, as_view
from dmlops.fusion.layout import Along, Taken
from dmlops.fusion.traced import axis_of
from dmlops.operators.nearest import Pattern, Progression, progressions_of

__all__ = [
    "MOST_AXES",
    "along",
    "broadcast",
    "constant",
    "cut",
    "depth_to_space",
    "dilated",
    "flip",
    "index",
    "join",
    "nearest",
    "pad_constant",
    "pad_periodic",
    "rearranged",
    "repeat",
    "reshape",
    "roll",
    "space_to_depth",
    "take",
    "tile",
    "transpose",
]


def index(x: Node, key: Any) -> Node:
    """Basic indexing; of whatever is not plain, NumPy makes the view, or raises its error."""
    key = key if isinstance(key, tuple) else (key,)
    if not any(entry is Ellipsis for entry in key):
        key = (*key, Ellipsis)
    selected = _selected(x, key)
    made: Node = as_view(x, lambda like: like[key]) if selected is None else View(x, *selected)
    return made


MOST_AXES = 32  # of an array, in the oldest NumPy


def _selected(x: Node, key: tuple[Any, ...]) -> tuple[list[Along], dict[int, int]] | None:
    """The axes of a view, and the indices that are fixed: of ints, slices, None, and one `...`."""
    dims: list[Along] = []
    fixed: dict[int, int] = {}
    left = len(x.shape) - sum(entry is not None and entry is not Ellipsis for entry in key)
    axis = 0
    for entry in key:
        if entry is None:
            dims.append(Along(None, 0, 1, 1))
        elif entry is Ellipsis and left >= 0:
            for at in range(axis, axis + left):
                _add_range(dims, fixed, at, range(x.shape[at]))
            axis, left = axis + left, -1
        elif axis >= len(x.shape):
            return None
        elif type(entry) is slice and _is_plain(entry):
            _add_range(dims, fixed, axis, range(*entry.indices(x.shape[axis])))
            axis += 1
        elif type(entry) is int and -x.shape[axis] <= entry < x.shape[axis]:
            fixed[axis] = entry % x.shape[axis]
            axis += 1
        else:
            return None
    return (*_of_any_size(dims, fixed),) if axis == len(x.shape) and len(dims) <= MOST_AXES else None


def _is_plain(entry: slice) -> bool:
    return entry.step != 0 and all(one is None or type(one) is int for one in (entry.start, entry.stop, entry.step))


def _add_range(dims: list[Along], fixed: dict[int, int], axis: int, which: range) -> None:
    """Keep these indices of an axis; an axis of one index is fixed there."""
    count = len(which)
    if count == 1:
        fixed[axis] = which.start
    dims.append(Along(None if count == 1 else axis, 0 if count == 1 else which.start, 1 if count == 1 else which.step, count))


def _of_any_size(dims: list[Along], fixed: dict[int, int]) -> tuple[list[Along], dict[int, int]]:
    """The same; of an empty view, no axis has an index."""
    if all(along.extent for along in dims):
        return dims, fixed
    return [Along(None, 0, 1, along.extent) for along in dims], {}


def rearranged(x: Node, order: Sequence[tuple[int | None, int]]) -> Node:
    """The axes in another order, each forwards or backwards, by a step of 1 or -1; None is a new axis."""
    dims: list[Along] = []
    fixed: dict[int, int] = {}
    for axis, step in order:
        if axis is None:
            dims.append(Along(None, 0, 1, 1))
        else:
            _add_range(dims, fixed, axis, range(x.shape[axis])[::step])
    return View(x, *_of_any_size(dims, fixed))


def cut(x: Node, axis: int, begin: int, end: int, step: int = 1) -> Node:
    """Indices of one axis; those of the others are all kept."""
    dims = [Along(k, 0, 1, size) for k, size in enumerate(x.shape)]
    dims[axis] = Along(axis, begin, step, len(range(begin, end, step)))
    return View(x, dims, {})


def flip(x: Node, axis: int) -> Node:
    return cut(x, axis, x.shape[axis] - 1, -1, -1)


def transpose(x: Node, axes: Sequence[int]) -> Node:
    return View(x, [Along(axis, 0, 1, x.shape[axis]) for axis in axes], {})


def reshape(x: Node, shape: Sequence[int]) -> Node:
    return x if tuple(shape) == x.shape else Reshape(x, shape)


def along(x: Node, axis: Any) -> tuple[Node, int]:
    """An array and an axis of it, counted from the front; of None all elements on one axis, as NumPy's functions have it."""
    return (reshape(x, (x.size,)), 0) if axis is None else (x, axis_of(axis, x))


def broadcast(x: Node, shape: Sequence[int]) -> Node:
    """As numpy.broadcast_to, which raises where shapes do not fit."""
    extra = len(shape) - len(x.shape)
    pairs = list(zip(x.shape, shape[max(extra, 0) :], strict=False))
    plain = len(shape) <= MOST_AXES and all(type(size) is int and size >= 0 for size in shape)
    if extra < 0 or not plain or any(one not in (1, size) for one, size in pairs):
        made: Node = as_view(x, lambda like: np.broadcast_to(like, shape))
        return made
    dims = [Along(None, 0, 1, size) for size in shape[:extra]]
    fixed = {axis: 0 for axis, (one, _) in enumerate(pairs) if one == 1}
    dims += [Along(None if one == 1 else axis, 0, 1, size) for axis, (one, size) in enumerate(pairs)]
    return View(x, *_of_any_size(dims, fixed))


def constant(item: Any, shape: Sequence[int] = ()) -> Node:
    """An array of one element, repeated; `item` is a 0-d array."""
    return broadcast(Constant(np.asarray(item)), shape)


def join(parts: Sequence[Node], axis: int) -> Node:
    """Of arrays of one dtype."""
    kept = [part for part in parts if part.shape[axis] > 0] or parts[:1]
    return kept[0] if len(kept) == 1 else Join(kept, axis)


# --- longer ones ----------------------------------------------------------------------------------------------------


def repeat(x: Node, count: int, axis: int) -> Node:
    """Each element several times."""
    return _several(x, count, axis, axis + 1)


def tile(x: Node, count: int, axis: int) -> Node:
    """All elements several times."""
    return _several(x, count, axis, axis)


def _several(x: Node, count: int, axis: int, at: int) -> Node:
    """The copies on an axis of their own, before the array's or behind it; then both are one."""
    dims = [Along(k, 0, 1, size) for k, size in enumerate(x.shape)]
    dims.insert(at, Along(None, 0, 1, count))
    return _merged(View(x, dims, {}), axis)


def _merged(x: Node, axis: int) -> Node:
    return reshape(x, (*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :]))


def roll(x: Node, shift: int, axis: int) -> Node:
    size = x.shape[axis]
    begin = -shift % size if size else 0
    return join([cut(x, axis, begin, size), cut(x, axis, 0, begin)], axis)


def take(x: Node, indices: Any, axis: int) -> Node:
    """The indices of an axis that are named, in an array."""
    return progressions(x, axis, tuple(progressions_of(indices)))


def progressions(x: Node, axis: int, which: tuple[Progression, ...]) -> Node:
    """Several, one behind the other."""
    if len(which) == 1 and which[0][1]:
        index, step, count = which[0]
        return cut(x, axis, index, index + (count - 1) * step + (1 if step > 0 else -1), step)
    return Take(x, axis, Taken(which)) if which else cut(x, axis, 0, 0)


def nearest(x: Node, axis: int, pattern: Pattern) -> Node:
    """The indices of a pattern."""
    head, period, times, apart, tail = pattern
    if times < 2:
        return progressions(x, axis, head + period * times + tail)
    middle = Take(x, axis, Taken(period, times, apart))
    return join([progressions(x, axis, head), middle, progressions(x, axis, tail)], axis)


def pad_constant(x: Node, axis: int, before: tuple[int, Any], after: tuple[int, Any]) -> Node:
    """Of each side: how many elements, and which, a 0-d array or an array of the trace."""
    sides = []
    for count, item in (before, after):
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        sides.append(broadcast(item if isinstance(item, Node) else Constant(np.asarray(item)), shape))
    return join([sides[0], x, sides[1]], axis)


def pad_periodic(x: Node, axis: int, before: int, after: int, mode: str) -> Node:
    """Of a mode that repeats elements; the axis is not empty if something is added."""
    size = x.shape[axis]
    if not (before or after):
        return x
    if mode == "edge" or size == 1:
        first, last = cut(x, axis, 0, 1), cut(x, axis, size - 1, size)
        return join([repeat(first, before, axis), x, repeat(last, after, axis)], axis)
    period = x
    if mode == "symmetric":
        period = join([x, flip(x, axis)], axis)
    elif mode == "reflection":
        period = join([x, cut(x, axis, size - 2, 0, -1)], axis)
    length = period.shape[axis]
    lead = -(-before // length)  # periods that begin before the input
    count = lead - (-(size + after) // length)
    begin = lead * length - before
    return cut(tile(period, count, axis), axis, begin, begin + before + size + after)


def _spatial(rank: int, blocks: Sequence[int], nhwc: bool) -> tuple[int, int]:
    """The axis of the channels, and the first spatial axis."""
    first = rank - len(blocks) - nhwc
    return (rank - 1 if nhwc else first - 1), first


def space_to_depth(x: Node, blocks: Sequence[int], dcr: bool, nhwc: bool) -> Node:
    channels, first = _spatial(len(x.shape), blocks, nhwc)
    shape: list[int] = []
    whole, inner = [], []  # the axes that stay, and those that go to the channels
    for axis, size in enumerate(x.shape):
        whole.append(len(shape))
        block = blocks[axis - first] if first <= axis < first + len(blocks) else 0
        shape += [size // block, block] if block else [size]
        inner += [len(shape) - 1] * (block > 0)
    deep = [*inner, whole[channels]] if dcr else [whole[channels], *inner]
    order = list(itertools.chain.from_iterable(deep if axis == channels else [at] for axis, at in enumerate(whole)))
    split = transpose(reshape(x, shape), order)
    result = [size // blocks[k - first] if first <= k < first + len(blocks) else size for k, size in enumerate(x.shape)]
    result[channels] *= math.prod(blocks)
    return reshape(split, result)


def depth_to_space(x: Node, blocks: Sequence[int], dcr: bool, nhwc: bool) -> Node:
    channels, first = _spatial(len(x.shape), blocks, nhwc)
    count = x.shape[channels] // math.prod(blocks)
    deep = [*blocks, count] if dcr else [count, *blocks]
    at = channels + (0 if dcr else 1)  # of the first block
    own = channels + (len(blocks) if dcr else 0)  # of the channels that stay
    shape = [*x.shape[:channels], *deep, *x.shape[channels + 1 :]]
    order: list[int] = []
    for axis in range(len(x.shape)):
        if axis == channels:
            order.append(own)
            continue
        order.append(axis if axis < channels else axis + len(blocks))
        if first <= axis < first + len(blocks):
            order.append(at + axis - first)
    result = [size * blocks[k - first] if first <= k < first + len(blocks) else size for k, size in enumerate(x.shape)]
    result[channels] = count
    return reshape(transpose(reshape(x, shape), order), result)


def dilated(x: Node, axis: int, step: int, item: Node) -> Node:
    """The elements `step` apart, with others between and behind them."""
    if step == 1 or x.shape[axis] == 0:
        return x
    gaps = broadcast(item, (*x.shape[: axis + 1], step - 1, *x.shape[axis + 1 :]))
    spaced = reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
    return _merged(join([spaced, gaps], axis + 1), axis)
