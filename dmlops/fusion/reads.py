"""Which indices of an array the steps after it read: a box, an interval on each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dmlops.fusion.graph import Join, Node, Reshape, View
from dmlops.fusion.maps import Map
from dmlops.fusion.order import operands_first

__all__ = ["Box", "boxes_of"]

Box: TypeAlias = tuple[tuple[int, int], ...]  # of each axis: the first index, and the one behind the last


def boxes_of(results: Sequence[Node]) -> dict[Node, Box]:
    """Of each array that the results are made of: a box that has all that they read of it."""
    boxes = {node: _whole(node) for node in results}
    for node in reversed(operands_first(results)):
        box = boxes.get(node)
        if box is None or any(begin == end for begin, end in box):
            continue
        for operand, read in zip(node.operands, _read(node, box), strict=True):
            if all(begin < end for begin, end in read):
                boxes[operand] = _around(boxes[operand], read) if operand in boxes else read
    return boxes


def _whole(node: Node) -> Box:
    return tuple((0, size) for size in node.shape)


def _around(one: Box, other: Box) -> Box:
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))


def _read(node: Node, box: Box) -> list[Box]:
    """The boxes of the operands that a box of an array reads."""
    if isinstance(node, View):
        return [_seen(node, box)]
    if isinstance(node, Join):
        return _parts(node, box)
    if isinstance(node, Map) or (isinstance(node, Reshape) and node.shape == node.operands[0].shape):
        return [box]
    return [_whole(one) for one in node.operands]


def _seen(node: View, box: Box) -> Box:
    read = {axis: (at, at + 1) for axis, at in node.fixed.items()}
    for along, (begin, end) in zip(node.dims, box, strict=True):
        if along.axis is not None:
            ends = along.start + along.step * begin, along.start + along.step * (end - 1)
            read[along.axis] = min(ends), max(ends) + 1
    return tuple(read[axis] for axis in range(len(node.operands[0].shape)))


def _parts(node: Join, box: Box) -> list[Box]:
    found, at = [], 0
    for part in node.operands:
        size, (begin, end) = part.shape[node.axis], box[node.axis]
        along = min(max(begin - at, 0), size), min(max(end - at, 0), size)
        found.append((*box[: node.axis], along, *box[node.axis + 1 :]))
        at += size
    return found
