"""Movements as chains of views, reshapes and joins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.fusion.graph import Constant, Join, Node, Reshape, Take, View, as_view
from dmlops.fusion.layout import Along, Taken
from dmlops.operators.nearest import Pattern, Progression, progressions_of

__all__ = [
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
    "repeat",
    "reshape",
    "roll",
    "space_to_depth",
    "take",
    "tile",
    "transpose",
]


def index(x: Node, key: Any) -> Node:
    made: Node = as_view(x, lambda like: like[key if isinstance(key, tuple) and ... in key else (*_tuple(key), ...)])
    return made


def _tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


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


def broadcast(x: Node, shape: Sequence[int]) -> Node:
    """As numpy.broadcast_to."""
    made: Node = as_view(x, lambda like: np.broadcast_to(like, shape))
    return made


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
    dims = [Along(k, 0, 1, size) for k, size in enumerate(x.shape)]
    dims.insert(axis + 1, Along(None, 0, 1, count))
    return _merged(View(x, dims, {}), axis)


def tile(x: Node, count: int, axis: int) -> Node:
    """All elements several times."""
    dims = [Along(k, 0, 1, size) for k, size in enumerate(x.shape)]
    dims.insert(axis, Along(None, 0, 1, count))
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
