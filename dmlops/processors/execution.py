"""Runs plans: the steps of bytes, then for each result one program of movements through tables, and of fills between them."""

from __future__ import annotations

import array
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from dmlops import _core
from dmlops.fusion.graph import described
from dmlops.operators.tracking import row_of
from dmlops.processors.byte_steps import Way, steps_of
from dmlops.processors.kept import Kept
from dmlops.processors.plans import Array, Axis, Block, Mask, Pixels, Plan, Size

__all__ = ["Work", "reference"]

_programs = Kept(256, 32 << 20)


class Work:
    """A plan for pictures of known sizes, with all that does not depend on pixels: any thread may run it."""

    def __init__(self, plan: Plan, sizes: Sequence[Size], backend: str, version: str) -> None:
        self.plan = plan
        ways = [way for result in plan.values() for way in _ways(result)]
        self.steps, self.places = steps_of(ways, sizes, backend, version)
        self._results = {name: self._movements(result) for name, result in plan.items()}

    @property
    def nbytes(self) -> int:
        """Of the arrays that it keeps."""
        return sum(_nbytes(result) for result in self.plan.values())

    def run(self, pictures: Sequence[Array], out: dict[str, Any], device: Any) -> dict[str, Any]:
        """The results by their names. `arguments.outputs` has checked `out`."""
        arrays = self.arrays(pictures, device)
        return {name: _made(result, arrays, out.get(name), device) for name, result in self._results.items()}

    def arrays(self, pictures: Sequence[Array], device: Any) -> list[Array]:
        """The pictures, and behind them what the steps make."""
        arrays = list(pictures)
        for of, maker in self.steps:
            arrays.append(maker(arrays[of], device))
        return arrays

    def _movements(self, result: Any) -> Any:
        if isinstance(result, Pixels):
            return Movement(result, self.places)
        return [self._movements(one) for one in result] if isinstance(result, list) else result


def _ways(result: Any) -> Iterator[Way]:
    if isinstance(result, Pixels):
        yield from ((block.picture, block.steps) for block in result.blocks)
    elif isinstance(result, list):
        for one in result:
            yield from _ways(one)


def _nbytes(result: Any) -> int:
    if isinstance(result, list):
        return sum(map(_nbytes, result))
    return result.nbytes if isinstance(result, np.ndarray) else 0


def _made(result: Any, arrays: Sequence[Array], out: Any, device: Any) -> Any:
    if isinstance(result, Movement):
        return result.run(arrays, out, device)
    if isinstance(result, Mask):
        return result.made(out)
    if isinstance(result, list) and out is None:
        return [_made(one, arrays, None, device) for one in result]
    if out is None:
        return result.copy() if isinstance(result, np.ndarray) else result
    if isinstance(result, list):
        return [_made(one, arrays, into, device) for one, into in zip(result, out, strict=True)]
    out[...] = result
    return out


# --- movements ---

# Of a program, a block: the number of its source, its first item, its axes, the channel of that item.
_Place: TypeAlias = tuple[int, int, tuple[Axis, ...], int]


class Movement:
    """One result of pixels, and its programs: one for each layout of what it reads."""

    def __init__(self, pixels: Pixels, places: dict[Way, int]) -> None:
        self.pixels = pixels
        numbers = {(block.picture, block.steps): 0 for block in pixels.blocks}
        for number, way in enumerate(numbers):
            numbers[way] = number
        self.sources = [places[way] for way in numbers]
        self._blocks: tuple[_Place, ...] = tuple(
            (numbers[block.picture, block.steps], block.first, block.axes, block.channel) for block in pixels.blocks
        )
        self._programs: dict[Any, Any] = {}

    def run(self, arrays: Sequence[Array], out: Any, device: Any) -> Array:
        """The result: a new array, or in `out`."""
        sources = [arrays[number] for number in self.sources]
        layout = tuple([one.strides for one in sources])
        program = self._programs.get(layout)
        if program is None:
            program = self._programs[layout] = self._program(sources, layout)
        into = None if out is None else [out.reshape(-1)]
        found: Array = _core._run_compiled(program, sources, into, device, row_of("preprocessing"))[0]
        return found.reshape(self.pixels.shape) if out is None else out

    def _program(self, sources: Sequence[Array], layout: tuple[Any, ...]) -> Any:
        """That of these movements, kept for all pictures whose steps end alike."""
        pixels = self.pixels
        if len(self._programs) > 8:  # views of many layouts
            self._programs = {}
        ground = None if pixels.beyond is None else pixels.beyond.tobytes()
        shapes = tuple([one.shape for one in sources])
        key = pixels.shape, pixels.dtype.str, pixels.table.tobytes(), ground, self._blocks, shapes, layout
        program = _programs.get(key)
        if program is None:
            program = _compile(pixels, self._blocks, sources)
            _programs.put(key, program, 2 * pixels.table.nbytes + 256 * len(self._blocks))
        return program


def _compile(pixels: Pixels, blocks: Sequence[_Place], sources: Sequence[Array]) -> Any:
    """The result is one axis. The table is followed by what lies between the blocks."""
    steps = array.array("q")
    for number, first, axes, channel in blocks:
        steps.extend(_step(number, first, axes, channel, sources[number].strides))
    if not pixels.is_full:
        beyond = np.zeros(1, pixels.dtype) if pixels.beyond is None else pixels.beyond
        for start, holes in gaps(pixels):
            steps.extend(_fill(start, holes, len(beyond), pixels))
        constants = pixels.table.tobytes() + beyond.tobytes()
    else:
        constants = pixels.table.tobytes()
    item, count = pixels.dtype.itemsize, math.prod(pixels.shape)
    return _core._compile((*described(sources), (pixels.dtype, (count,), (item,))), len(sources), steps.tobytes(), constants)


def _step(source: int, first: int, axes: Sequence[Axis], channel: int, strides: Sequence[int]) -> Iterator[int]:
    """A block as csrc/plan/compiled.h has it."""
    rows, columns, channels = strides
    yield from (source, 0, channel * channels, 1, 0, channel, -1, len(axes))
    for axis in axes:
        src = axis.rows * rows + axis.columns * columns + axis.channels * channels
        yield from (0, first, axis.extent, axis.items, src, axis.channels)
        first = 0


_FILL = -1  # DML_FILL


def _fill(first: int, axes: tuple[tuple[int, int], ...], period: int, pixels: Pixels) -> Iterator[int]:
    """Items from `first` on, whose last axis is a run of items, become those behind the table, over and over."""
    *outer, (run, _) = axes
    if first % period or run % period or any(items % period for _, items in outer):
        raise AssertionError("blocks begin and end where the result's last axis does")
    axes = (*outer, (run // period, period), (period, 1))
    yield from (_FILL, 0, pixels.table.nbytes, 0, -1, 0, -1, len(axes))
    for number, (extent, items) in enumerate(axes):
        src = pixels.dtype.itemsize if number + 1 == len(axes) else 0
        yield from (0, first, extent, items, src, 0)
        first = 0


# Items that a block writes: the first one, and axes, each an extent and how many items lie from one to the next.
_Items: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]


def gaps(pixels: Pixels) -> Iterator[_Items]:
    """What no block writes; the last axis is a run of neighbours."""
    end = 0
    for first, axes in _apart([_items(block) for block in pixels.blocks]):
        if first > end:
            yield end, ((first - end, 1),)
        span = 1
        for number in range(len(axes) - 1, -1, -1):
            extent, items = axes[number]
            if items > span:
                yield first + span, (*axes[:number], (extent - 1, items), (items - span, 1))
            span += (extent - 1) * items
        end = first + span
    if (count := math.prod(pixels.shape)) > end:
        yield end, ((count - end, 1),)


def _items(block: Block) -> _Items:
    axes = [(axis.extent, axis.items) for axis in block.axes if axis.extent > 1]
    return block.first, tuple(sorted(axes, key=lambda axis: -axis[1]))


def _end(one: _Items) -> int:
    return one[0] + sum([(extent - 1) * items for extent, items in one[1]]) + 1


def _apart(blocks: list[_Items]) -> list[_Items]:
    """The same items, in order: blocks that begin before another one ends are taken apart along their outer axes."""
    while True:
        blocks.sort()
        last, mixed = 0, set()
        for number in range(1, len(blocks)):
            if blocks[number][0] < _end(blocks[last]):
                mixed |= {last, number}
            last = max(last, number, key=lambda number: _end(blocks[number]))
        if not mixed:
            return blocks
        parts: list[_Items] = []
        for number, (first, axes) in enumerate(blocks):
            if number not in mixed or not axes:
                parts.append((first, axes))
            else:
                parts += [(first + k * axes[0][1], axes[1:]) for k in range(axes[0][0])]
        if len(parts) == len(blocks):
            raise AssertionError("two blocks write the same item")
        blocks = parts


def reference(pixels: Pixels, work: Work, arrays: Sequence[Array]) -> Array:
    """The same by NumPy."""
    result = np.zeros(pixels.shape, pixels.dtype)
    result[...] = 0 if pixels.beyond is None else pixels.beyond
    result = result.reshape(-1)
    for block in pixels.blocks:
        source = arrays[work.places[block.picture, block.steps]]
        extents = [axis.extent for axis in block.axes]
        strides = [np.dot((axis.rows, axis.columns, axis.channels), source.strides) for axis in block.axes]
        view = np.lib.stride_tricks.as_strided(source[:, :, block.channel :], extents, strides)
        channel = np.zeros(extents, np.intp) + block.channel
        for place, axis in enumerate(block.axes):
            shape = [-1 if k == place else 1 for k in range(len(extents))]
            channel += np.arange(axis.extent).reshape(shape) * axis.channels
        into = np.lib.stride_tricks.as_strided(
            result[block.first :], extents, [axis.items * result.itemsize for axis in block.axes]
        )
        into[...] = pixels.table[channel, view]
    return result.reshape(pixels.shape)
