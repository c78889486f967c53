"""Runs plans: the steps of bytes, then one pass of movements through tables into the results.

What several blocks have in common, such as a picture that is resized once and cut into tiles, is computed once.
"""

from __future__ import annotations

import array
import math
import threading
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from dmlops import _core
from dmlops.fusion.graph import without_memory
from dmlops.processors import resizing
from dmlops.processors.plans import Array, Axis, Block, Pixels, Resize, Step, Turn, Window

__all__ = ["Bytes", "moved", "reference"]

_MOST_PROGRAMS = 256


class Bytes:
    """The pictures of a call behind steps."""

    def __init__(self, pictures: Sequence[Array], backend: str, version: str, device: Any) -> None:
        self.pictures = pictures
        self.backend = backend
        self.version = version
        self.device = device
        self.found: dict[tuple[int, tuple[Step, ...]], Array] = {}

    def behind(self, picture: int, steps: tuple[Step, ...]) -> Array:
        if not steps:
            return self.pictures[picture]
        key = picture, steps
        if key not in self.found:
            before = self.behind(picture, steps[:-1])
            self.found[key] = self.step(before, steps[-1])
        return self.found[key]

    def step(self, before: Array, step: Step) -> Array:
        if isinstance(step, Resize):
            return resizing.resize(before, step, self.backend, self.version, self.device)
        if isinstance(step, Turn):
            return np.rot90(before, 3)
        return window(before, step)


def window(picture: Array, step: Window) -> Array:
    """A view where the window lies in the picture."""
    height, width, channels = picture.shape
    top, left = max(step.top, 0), max(step.left, 0)
    bottom, right = max(min(step.top + step.height, height), top), max(min(step.left + step.width, width), left)
    inner = picture[top:bottom, left:right]
    if inner.shape[:2] == (step.height, step.width):
        return inner
    if step.fill == "symmetric":
        return np.pad(picture, ((0, step.height - height), (0, step.width - width), (0, 0)), mode="symmetric")
    outer = np.empty((step.height, step.width, channels), picture.dtype)
    outer[:] = step.fill
    outer[top - step.top : bottom - step.top, left - step.left : right - step.left] = inner
    return outer


# --- movements ---

# A run of blocks that together write all of a range of the result, as one axis; or one block, as the axes that it has.
_Run: TypeAlias = tuple[tuple[Block, ...], bool]

_programs: dict[Any, Any] = {}
_lock = threading.Lock()


def moved(pixels: Pixels, found: Bytes, out: Array | None = None, device: Any = None) -> Array:
    """The result: a new array, or in `out`."""
    if out is not None and (out.shape, out.dtype) != (pixels.shape, pixels.dtype):
        raise ValueError(f"out is {out.dtype} {out.shape}, the result {pixels.dtype} {pixels.shape}")
    if out is not None and not (isinstance(out, np.ndarray) and out.flags.c_contiguous):
        raise ValueError("out must be a C-contiguous array of NumPy")
    if pixels.is_full:
        runs: Sequence[_Run] = [(pixels.blocks, True)] if pixels.blocks else []
        out = np.empty(pixels.shape, pixels.dtype) if out is None else out
    else:
        runs = _runs(pixels.blocks)
        out = _ground(pixels, out)
    for blocks, dense in runs:
        _run(pixels, blocks, dense, found, out, device)
    return out


def _ground(pixels: Pixels, out: Array | None) -> Array:
    if pixels.beyond is None and out is None:
        return np.zeros(pixels.shape, pixels.dtype)
    out = np.empty(pixels.shape, pixels.dtype) if out is None else out
    out[...] = 0 if pixels.beyond is None else pixels.beyond
    return out


def _runs(blocks: Sequence[Block]) -> list[_Run]:
    found: list[_Run] = []
    end = -1
    for block in sorted(blocks, key=lambda block: block.first):
        dense = block.is_dense
        if found and dense and found[-1][1] and block.first == end:
            found[-1] = (*found[-1][0], block), True
        else:
            found.append(((block,), dense))
        end = block.first + block.size
    return found


def _run(pixels: Pixels, blocks: Sequence[Block], dense: bool, found: Bytes, out: Array, device: Any) -> None:
    numbers: dict[tuple[int, tuple[Step, ...]], int] = {}
    for block in blocks:
        numbers.setdefault((block.picture, block.steps), len(numbers))
    sources = [found.behind(*key) for key in numbers]
    order = [numbers[block.picture, block.steps] for block in blocks]
    flat, first = out.reshape(-1), min(block.first for block in blocks)
    if dense:
        into = flat[first : first + sum(block.size for block in blocks)]
    else:
        axes = blocks[0].axes
        strides = [axis.items * out.itemsize for axis in axes]
        into = np.lib.stride_tricks.as_strided(flat[first:], [axis.extent for axis in axes], strides)
    _core._run_compiled(_program(pixels, blocks, first, sources, order, dense), sources, [into], device, None)


def _program(
    pixels: Pixels, blocks: Sequence[Block], first: int, sources: Sequence[Array], order: Sequence[int], dense: bool
) -> Any:
    """That of these movements, kept: it depends on layouts and sizes, not on values."""
    layouts = tuple((one.shape, one.strides) for one in sources)
    places = tuple(
        (number, block.first - first, block.axes, block.channel) for number, block in zip(order, blocks, strict=True)
    )
    key = pixels.dtype.str, pixels.table.tobytes(), layouts, places, dense
    program = _programs.get(key)
    if program is None:
        program = _compile(pixels, places, sources, dense)
        with _lock:
            while len(_programs) >= _MOST_PROGRAMS:
                _programs.pop(next(iter(_programs)))
            _programs[key] = program
    return program


def _compile(
    pixels: Pixels, places: Sequence[tuple[int, int, tuple[Axis, ...], int]], sources: Sequence[Array], dense: bool
) -> Any:
    steps = array.array("q")
    for number, first, axes, channel in places:
        steps.extend(_step(number, first, axes, channel, sources[number].strides, dense))
    item = pixels.dtype.itemsize
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    if dense:
        shape = (sum(math.prod(axis.extent for axis in axes) for _, _, axes, _ in places),)
        strides = (item,)
    else:
        shape = tuple(axis.extent for axis in places[0][2])
        strides = tuple(axis.items * item for axis in places[0][2])
    result = without_memory(pixels.dtype, shape, strides)
    arrays = (*(without_memory(one.dtype, one.shape, one.strides) for one in sources), result)
    return _core._compile(arrays, len(sources), steps.tobytes(), pixels.table.tobytes())


def _step(source: int, first: int, axes: Sequence[Axis], channel: int, strides: Sequence[int], dense: bool) -> Iterator[int]:
    """A block as csrc/core/compiled.h has it: the result has one axis, or as many as the block."""
    rows, columns, channels = strides
    yield from (source, 0, channel * channels, 1, 0, channel, -1, len(axes))
    for number, axis in enumerate(axes):
        src = axis.rows * rows + axis.columns * columns + axis.channels * channels
        if dense:
            yield from (0, first, axis.extent, axis.items, src, axis.channels)
            first = 0
        else:
            yield from (number, 0, axis.extent, 1, src, axis.channels)


def reference(pixels: Pixels, found: Bytes) -> Array:
    """The same by NumPy."""
    result = np.zeros(pixels.shape, pixels.dtype)
    result[...] = 0 if pixels.beyond is None else pixels.beyond
    result = result.reshape(-1)
    for block in pixels.blocks:
        source = found.behind(block.picture, block.steps)
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
