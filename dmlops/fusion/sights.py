"""Graphs that differ in sizes alone: their key, their numbers, and the same graph of other numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dmlops.fusion.chosen import Chosen, Entry
from dmlops.fusion.graph import Arrays, Constant, Input, Join, Node, Reshape, Take, View, Windowed
from dmlops.fusion.keys import bytes_of
from dmlops.fusion.layout import Along, Taken
from dmlops.fusion.maps import Map
from dmlops.fusion.order import operands_first
from dmlops.fusion.resized import Resize

__all__ = ["Sight", "rebuilt", "sight_of"]

_MOST_PLANS = 64  # for the entries of indices: each is a step


class Sight(NamedTuple):
    """A graph: its structure, its numbers, and its nodes, operands first."""

    key: Any
    numbers: list[int]
    order: list[Node]


def sight_of(inputs: Arrays, results: Sequence[Node]) -> Sight | None:
    """None where a graph is compiled plainly: of empty arrays, of many indices, of maps that no other call has."""
    order = operands_first(results)
    number = {node: place for place, node in enumerate(order)}
    key: list[Any] = [tuple([len(shape) > 0 for _, shape, _ in inputs])]  # also of those that no node reads
    numbers: list[int] = []
    for node in order:
        describe = _DESCRIBED.get(type(node))
        if describe is None or 0 in node.shape or not describe(node, inputs, key, numbers):
            return None
        key += [number[one] for one in node.operands]
    key += ["results", *(number[one] for one in results)]
    return Sight(tuple(key), list(map(int, numbers)), order)


def _is_whole(along: Along, size: int) -> bool:
    return along.extent == size and (along.step == 1 or (along.step == -1 and along.start == size - 1))


def _view(node: View, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    shape = node.operands[0].shape
    key += ("view", len(node.dims))
    for along in node.dims:
        axis, start, step, extent = along
        if axis is None:
            key.append("new" if extent == 1 else "repeated")
            numbers += [extent] * (extent != 1)
        elif _is_whole(along, shape[axis]):
            key += (axis, step)
        else:
            key += ("cut", axis, step)
            numbers += (start, extent)
    key.append("fixed")
    for axis, at in node.fixed.items():
        key += ("at", axis) if at else (axis,)
        numbers += [at] * (at != 0)
    return True


def _reshape(node: Reshape, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("reshape", len(node.shape), node.dtype)
    numbers += node.shape
    return True


def _join(node: Join, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("join", node.axis, len(node.operands))
    return True


def _map(node: Map, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("map", id(node.expression), node.dtype, node.source.shape == ())
    return node.expression.shared


def _input(node: Input, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    dtype, shape, strides = inputs[node.index]
    key += ("input", node.index, dtype, len(shape))
    numbers += shape
    numbers += strides
    return True


def _constant(node: Constant, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("constant", node.dtype, node.shape, bytes_of(node.array))
    return True


def _take(node: Take, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    progressions, times, apart = node.taken
    key += ("take", node.axis, len(progressions), *[step for _, step, _ in progressions], times > 1)
    for index, _, count in progressions:
        numbers += (index, count)
    numbers += (times, apart)
    return True


def _windowed(node: Windowed, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    axis, size, stride, dilation, extent = node.along
    key += ("windowed", axis, stride, dilation)
    numbers += (size, extent)
    return True


def _resize(node: Resize, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("resize", node.axes)
    numbers += [node.shape[axis] for axis in node.axes]
    return True


def _chosen(node: Chosen, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    along, given = [one.axis for one in node.along], [one.input for one in node.indices]
    key += ("chosen", len(node.dims), tuple(along), tuple(given), len(node.mirrors))
    for one in node.dims:
        if isinstance(one, Entry):
            key.append(("entry", one.extent))
        else:
            key.append((one.axis, one.mirror))
            numbers.append(one.extent)
    return math.prod(node.entries) << len(node.mirrors) <= _MOST_PLANS


_DESCRIBED: dict[type, Any] = {
    View: _view,
    Reshape: _reshape,
    Join: _join,
    Map: _map,
    Input: _input,
    Constant: _constant,
    Take: _take,
    Windowed: _windowed,
    Resize: _resize,
    Chosen: _chosen,
}


# --- the same graph of other numbers --------------------------------------------------------------------------------


def rebuilt(sight: Sight, inputs: Arrays, values: Iterator[Any]) -> tuple[list[Any], list[Node]]:
    """The inputs, and the nodes in their order, of the same graph of other numbers, as they were described."""
    arrays, new = list[Any](inputs), dict[Node, Node]()
    for node in sight.order:
        if isinstance(node, Input):
            shape, strides = ([next(values) for _ in node.shape] for _ in range(2))
            arrays[node.index] = node.dtype, tuple(shape), tuple(strides)
            made: Node = Input(node.index, shape, node.dtype, strides)
        else:
            rebuild = _REBUILT.get(type(node))
            made = node if rebuild is None else rebuild(node, [new[one] for one in node.operands], values)
        made.where = node.where
        new[node] = made
    return arrays, [new[node] for node in sight.order]


def _again_view(node: View, operands: list[Node], values: Iterator[Any]) -> View:
    dims = []
    for along in node.dims:
        axis, _, step, extent = along
        if axis is None:
            dims.append(Along(None, 0, 1, 1 if extent == 1 else next(values)))
        elif _is_whole(along, node.operands[0].shape[axis]):
            size = operands[0].shape[axis]
            dims.append(Along(axis, 0 if step == 1 else size - 1, step, size))
        else:
            start = next(values)
            dims.append(Along(axis, start, step, next(values)))
    return View(operands[0], dims, {axis: next(values) if at else 0 for axis, at in node.fixed.items()})


def _again_take(node: Take, operands: list[Node], values: Iterator[Any]) -> Take:
    progressions = tuple([(next(values), step, next(values)) for _, step, _ in node.taken.progressions])
    times, apart = next(values), next(values)
    return Take(operands[0], node.axis, Taken(progressions, times if node.taken.times > 1 else 1, apart))


def _again_windowed(node: Windowed, operands: list[Node], values: Iterator[Any]) -> Windowed:
    size, extent = next(values), next(values)
    return Windowed(operands[0], node.along._replace(size=size, extent=extent))


def _again_chosen(node: Chosen, operands: list[Node], values: Iterator[Any]) -> Chosen:
    dims = [one if isinstance(one, Entry) else one._replace(extent=next(values)) for one in node.dims]
    made = Chosen(operands[0], node.along, node.mirrors, dims, (), node.looked_at)
    made.indices = node.indices
    return made


_REBUILT: dict[type, Any] = {
    View: _again_view,
    Reshape: lambda node, operands, values: Reshape(operands[0], [next(values) for _ in node.shape], node.dtype),
    Join: lambda node, operands, values: Join(operands, node.axis),
    Map: lambda node, operands, values: Map(operands[0], node.source, node.expression, node.dtype),
    Take: _again_take,
    Windowed: _again_windowed,
    Resize: lambda node, operands, values: Resize(operands[0], node.resampling, node.axes, (next(values), next(values))),
    Chosen: _again_chosen,
}
