"""What resizing runs, step after step, on images of one size: windows, indices, sums, products with alpha.

Steps are the same for all images of a size, and are cached.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dmlops import _core

__all__ = ["Alpha", "Indices", "Step", "Sums", "Window", "opencv_steps", "pillow_steps", "torchvision_steps", "window_view"]

_PILLOW, _REDUCE, _OPENCV, _TORCHVISION = range(4)  # dml_library
_FILTERS = ("box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021")  # dml_filter
_MODES = ("linear", "linear-exact", "area", "cubic", "lanczos4")  # dml_opencv_mode
_SUPPORT = {"box": 0.5, "bilinear": 1.0, "hamming": 1.0, "bicubic": 2.0, "lanczos": 3.0, "mks2013": 2.5, "mks2021": 4.5}
Pair: TypeAlias = tuple[int, int]
Box: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True)
class Window:
    """Rows and columns from `begin` on."""

    begin: Pair
    size: Pair


@dataclass(frozen=True, eq=False)
class Indices:
    """Rows and columns of these indices."""

    rows: Any
    columns: Any


@dataclass(frozen=True, eq=False)
class Sums:
    """A resampling of the extension."""

    resampling: Any
    size: Pair


@dataclass(frozen=True)
class Alpha:
    """Channels are multiplied with the last one, or divided by it."""

    multiplies: bool


Step: TypeAlias = Window | Indices | Sums | Alpha


def window_view(array: Any, axes: Pair, begin: Sequence[int], size: Sequence[int]) -> Any:
    """A view of the rows and columns from `begin` on."""
    key = [slice(None)] * array.ndim
    for axis, first, count in zip(axes, begin, size, strict=True):
        key[axis] = slice(first, first + count)
    return array[tuple(key)]


# --- Pillow -------------------------------------------------------------------------------------------------------------


def _crop_of(box: Box, size: Pair) -> Window | None:
    """The window that Pillow copies: where the box has whole corners and the result's size."""
    left, top, right, bottom = (np.float32(value) for value in box)
    whole = left == np.trunc(left) and top == np.trunc(top)
    if whole and float(right - left) == size[1] and float(bottom - top) == size[0]:
        return Window((int(top), int(left)), size)
    return None


def _pillow_sums(old: Pair, size: Pair, resample: str, box: Box, newer: bool) -> list[Step]:
    if crop := _crop_of(box, size):
        return [] if crop.begin == (0, 0) and size == old else [crop]
    left, top, right, bottom = (float(np.float32(value)) for value in box)
    request = old, size, (top, left), (bottom, right), 1, newer
    resampling = _core._resampling(_PILLOW, _FILTERS.index(resample), *request)
    return [] if resampling is None else [Sums(resampling, size)]


def _reduced(old: Pair, size: Pair, resample: str, box: Box, gap: float) -> tuple[list[Step], Pair, Box]:
    """Steps that make the mean of whole blocks, and the image and the box behind them."""
    left, top, right, bottom = box
    factors = int((bottom - top) / size[0] / gap) or 1, int((right - left) / size[1] / gap) or 1
    if factors == (1, 1):
        return [], old, box
    beyond = _SUPPORT[resample] - 0.5
    across, down = beyond * ((right - left) / size[1]), beyond * ((bottom - top) / size[0])
    x, y = max(0, int(left - across)), max(0, int(top - down))
    rows, columns = min(old[0], math.ceil(bottom + down)) - y, min(old[1], math.ceil(right + across)) - x
    new = -(-rows // factors[0]), -(-columns // factors[1])
    resampling = _core._resampling(_REDUCE, 0, (rows, columns), new, factors, (0, 0), 1, False)
    assert resampling is not None, "a factor is above 1"
    box = ((left - x) / factors[1], (top - y) / factors[0], (right - x) / factors[1], (bottom - y) / factors[0])
    return [Window((y, x), (rows, columns)), Sums(resampling, new)], new, box


def _pillow_nearest(begin: float, end: float, count: int, size: int, words: bool) -> Any:
    """Pillow's position is a running sum, but for images of 16 bits, where it is a product."""
    step = float(np.float32(end) - np.float32(begin)) / count
    first = float(np.float32(begin))
    if words:
        positions = step * (np.arange(count) + 0.5) + first
    else:
        positions = np.full(count, step)
        positions[0] = first + step * 0.5
        positions = np.add.accumulate(positions)
    return np.minimum(positions.astype(np.int64), size - 1)


@functools.lru_cache(maxsize=256)
def pillow_steps(
    old: Pair, size: Pair, resample: str, box: Box | None, gap: float | None, alpha: bool, version: Pair, words: bool = False
) -> list[Step]:
    """Of images of (height, width); `words` are items of 16 bits, Pillow's modes I;16."""
    full = (0, 0, old[1], old[0])
    if size == old and box in (None, full):
        return []
    box = full if box is None else box
    alpha = alpha and resample != "nearest"
    steps: list[Step] = [Alpha(True)] if alpha else []
    if gap is not None and resample != "nearest" and not (alpha and version < (13, 0)):
        more, old, box = _reduced(old, size, resample, box, gap)
        steps += more
    if resample == "nearest" and not _crop_of(box, size):
        rows = _pillow_nearest(box[1], box[3], size[0], old[0], words)
        steps.append(Indices(rows, _pillow_nearest(box[0], box[2], size[1], old[1], words)))
    elif (12, 2) <= version < (13, 0) and old[0] > 100 * old[1] and size[0] < old[0]:
        between = size[0], old[1]
        steps += _pillow_sums(old, between, resample, (0, box[1], old[1], box[3]), False)
        steps += _pillow_sums(between, size, resample, (box[0], 0, box[2], size[0]), False)
    else:
        steps += _pillow_sums(old, size, resample, box, version >= (13, 0))
    return [*steps, Alpha(False)] if alpha else steps


# --- OpenCV -------------------------------------------------------------------------------------------------------------


def _opencv_nearest(size: int, count: int, factor: float) -> Any:
    index = np.floor(np.arange(count) * (1.0 / factor)).astype(np.int64)
    return np.minimum(index, size - 1)


def _opencv_exact(size: int, count: int, version: Pair) -> Any:
    if version >= (5, 0):
        steps = np.full(count, size / count)
        steps[0] *= 0.5
        index = np.floor(np.add.accumulate(steps)).astype(np.int64)
    else:  # int32 that wraps around
        step = ((size << 16) + count // 2) // count
        first = step // 2 - (size % 2 if version >= (4, 8) else 1)
        position = (step * np.arange(count, dtype=np.int64) + first).astype(np.uint32)
        index = (position.view(np.int32) >> 16).astype(np.int64)
    return np.minimum(index, size - 1)


@functools.lru_cache(maxsize=256)
def opencv_steps(
    old: Pair, size: Pair, interpolation: str, factors: tuple[float, float] | None, items: int, version: Pair
) -> list[Step]:
    """`items` follow each other in a column; `factors` are (fy, fx) where no size was given."""
    if size == old:
        return []
    if interpolation == "nearest-exact":
        return [Indices(*(_opencv_exact(*pair, version) for pair in zip(old, size, strict=True)))]
    if interpolation == "nearest":
        each = factors or (size[0] / old[0], size[1] / old[1])
        return [Indices(*(_opencv_nearest(*one) for one in zip(old, size, each, strict=True)))]
    request = old, size, factors or (0.0, 0.0), (0.0, 0.0), items, False
    resampling = _core._resampling(_OPENCV, _MODES.index(interpolation), *request)
    return [] if resampling is None else [Sums(resampling, size)]


# --- torchvision --------------------------------------------------------------------------------------------------------


def _torch_nearest(size: int, count: int, exact: bool, small: bool) -> Any:
    """In float32; `small` results come from another kernel, and otherwise the product is not rounded before the sum."""
    scale, output = np.float32(size) / np.float32(count), np.arange(count)
    if not exact:
        position = output.astype(np.float32) * scale
    elif small:
        position = ((output + 0.5) * np.float64(scale)).astype(np.float32)
    else:
        centre = (np.float64(scale) * (output + 0.5) - 0.5).astype(np.float32).clip(0)
        position = (centre.astype(np.float64) + 0.5).astype(np.float32)
    return np.minimum(np.floor(position).astype(np.int64), size - 1)


@functools.lru_cache(maxsize=256)
def torchvision_steps(old: Pair, size: Pair, interpolation: str, antialias: bool) -> list[Step]:
    if size == old:
        return []
    if interpolation.startswith("nearest"):
        exact, small = interpolation == "nearest-exact", sum(size) <= 128
        return [Indices(*(_torch_nearest(*pair, exact, small) for pair in zip(old, size, strict=True)))]
    request = old, size, (0.0, 0.0), (0.0, 0.0), 1, antialias
    resampling = _core._resampling(_TORCHVISION, _FILTERS.index(interpolation), *request)
    return [] if resampling is None else [Sums(resampling, size)]
