"""Resizing in a trace: arrays of bytes that a pass of its own makes, by the weighted sums of a resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dmlops import _core
from dmlops.fusion.graph import Input, Node, View
from dmlops.fusion.layout import Along, Piece
from dmlops.fusion.reads import Box
from dmlops.resizing.steps import window_view

__all__ = ["Resize", "ResizePass", "Seen", "Source", "seen", "selected"]


class Resize(Node):
    """What a resampling makes of two axes of an array: its rows, and its columns.

    It has no pieces: no strided copy makes it.
    """

    def __init__(self, of: Node, resampling: Any, axes: tuple[int, int], size: tuple[int, int]) -> None:
        shape = list(of.shape)
        for axis, count in zip(axes, size, strict=True):
            shape[axis] = count
        super().__init__(shape, of.dtype)
        self.operands, self.resampling, self.axes = (of,), resampling, axes

    def window(self, box: Box) -> tuple[int, int, int, int]:
        """The window of rows and columns that has a box of the array: where it begins and how many there are, of each."""
        (top, bottom), (left, right) = (box[axis] for axis in self.axes)
        return top, bottom - top, left, right - left


class Source(NamedTuple):
    """An array that is there: an input of a pass, whose first element has these indices."""

    number: int
    first: tuple[int, ...]


class Seen(NamedTuple):
    """A view of an array that is there, by views one after the other."""

    source: Source
    views: tuple[View, ...]

    def of(self, array: Any) -> Any:
        return selected(array, _as_one(self.views), self.source.first) if self.views else array


def seen(node: Node, sources: dict[Node, Source]) -> Seen | None:
    """How an array is seen; None where no view has its elements. `sources` has intermediate results."""
    views: list[View] = []
    while node not in sources and isinstance(node, View) and all(one.axis is not None or one.extent == 1 for one in node.dims):
        views.append(node)
        (node,) = node.operands
    if isinstance(node, Input):
        return Seen(Source(node.index, (0,) * len(node.shape)), tuple(reversed(views)))
    return Seen(sources[node], tuple(reversed(views))) if node in sources else None


def _as_one(views: Sequence[View]) -> View:
    """Views one after the other, as one: of an array whose window alone is there, the first ones may select more than that."""
    made = views[0]
    for view in views[1:]:
        inner, fixed = made.dims, dict(made.fixed)
        for axis, at in view.fixed.items():
            along = inner[axis]
            if along.axis is not None:
                fixed[along.axis] = along.start + along.step * at
        dims = [one if one.axis is None else _along(inner[one.axis], one) for one in view.dims]
        made = View(made.operands[0], dims, fixed)
    return made


def _along(inner: Along, outer: Along) -> Along:
    """Indices of a dimension of a view, as those of the viewed array's axis."""
    _, start, step, extent = outer
    return Along(inner.axis, inner.start + inner.step * start, inner.step * step, extent)


def selected(array: Any, view: View, first: Sequence[int]) -> Any:
    """What a view selects of an array with values, NumPy's or a device's; `first`: the indices of its first element."""
    key: list[Any] = [view.fixed[axis] - first[axis] if axis in view.fixed else None for axis in range(array.ndim)]
    for axis, start, step, extent in view.dims:
        if axis is not None:
            start -= first[axis]
            stop = start + step * extent
            key[axis] = slice(start, None if stop < 0 else stop, step)
    kept = sorted(one.axis for one in view.dims if one.axis is not None)
    array = array[(*key, ...)].transpose([kept.index(one.axis) for one in view.dims if one.axis is not None])
    array = array[(*(slice(None) if one.axis is not None else None for one in view.dims), ...)]  # never a number
    return array[tuple(slice(extent) for extent in view.shape)] if array.shape != view.shape else array


class ResizePass(NamedTuple):
    """A pass that resizes: as `Pass`, with a resampling in place of a program.

    It makes a window of the array, which is an intermediate result, or all results.
    """

    seen: Seen
    node: Resize
    window: tuple[int, int, int, int]
    nodes: tuple[Node, ...]
    pieces: tuple[list[Piece], ...]
    inputs: tuple[Any, ...]
    why: str
    constants: tuple[Any, ...] = ()
    constants_bytes: bytes = b""  # weights are kept with others of their axis

    def run(self, arrays: Sequence[Any], out: Any, device: Any, how: Any) -> list[Any]:
        array = self.seen.of(arrays[self.seen.source.number])
        return [self.resized(array, None if out is None else out[0], device, how)]

    def resized(self, array: Any, out: Any, device: Any, how: Any) -> Any:
        return _core._resample(array, self.node.resampling, self.node.axes, self.window, out, device, how)

    def steps(self, indices: Any) -> list[Any]:
        """No plans."""
        return []

    def described(self) -> Any:
        """What compares."""
        return self.seen, self.node, self.window, self.inputs, self.why

    def explained(self) -> list[str]:
        """A line for each axis whose elements are added."""
        lines = []
        for which, inputs, taps, *_ in _core._resampling_described(self.node.resampling)[0]:
            count, of = self.window[2 * which + 1], self.node.shape[self.node.axes[which]]
            made = f"{of}" if count == of else f"{count} of {of}"
            lines.append(f"{('rows', 'columns')[which]}: {inputs} to {made}, each a sum of {taps} elements at most")
        return lines

    def windowed(self, array: Any) -> Any:
        """Of an array of the node's shape, what the pass makes."""
        return window_view(array, self.node.axes, self.window[::2], self.window[1::2])
