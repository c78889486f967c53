"""OpenCV's rules for bytes, each mode's own.

Images have the axes (..., height, width, channels). A factor is how many outputs there are for each input; OpenCV computes with
its reciprocal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dmlops.resizing.sums import Array, Row, added, added_floats, clipped

__all__ = ["nearest_exact_index", "nearest_index", "resized", "size_of"]

Position: TypeAlias = tuple[int, np.float32]
Rows: TypeAlias = Callable[[int, int, float], list[Row]]
ONE = np.float32(2048)


def size_of(size: int, factor: float) -> int:
    """The result's size by fx or fy: halves become even."""
    return round(size * factor)


def _inside(index: int, size: int) -> int:
    return min(max(index, 0), size - 1)


def _fixed(weight: np.float32) -> int:
    return int(min(max(np.rint(weight * ONE), -32768), 32767))


# --- nearest ------------------------------------------------------------------------------------------------------------


def nearest_index(size: int, count: int, factor: float) -> list[int]:
    return [min(math.floor(output * (1.0 / factor)), size - 1) for output in range(count)]


def nearest_exact_index(size: int, count: int, version: tuple[int, int]) -> list[int]:
    """Versions before 5 have fractions of 16 bits, in integers that wrap around."""
    index = []
    if version >= (5, 0):
        step = size / count
        position = 0.5 * step
        for _ in range(count):
            index.append(min(math.floor(position), size - 1))
            position += step
        return index
    step_bits = ((size << 16) + count // 2) // count
    first = step_bits // 2 - (size % 2 if version >= (4, 8) else 1)
    for output in range(count):
        wrapped = (step_bits * output + first + 2**31) % 2**32 - 2**31
        index.append(min(wrapped >> 16, size - 1))
    return index


# --- two taps -----------------------------------------------------------------------------------------------------------


def _centre(output: int, factor: float) -> Position:
    position = np.float32((output + 0.5) * (1.0 / factor) - 0.5)
    return math.floor(position), position - np.floor(position)


def _enlarged(output: int, factor: float) -> Position:
    whole = math.floor(output * (1.0 / factor))
    fraction = np.float32((output + 1.0) - (whole + 1.0) * factor)
    return whole, np.float32(0) if fraction <= 0 else fraction - np.floor(fraction)


def _two_taps(size: int, count: int, factor: float, position: Callable[[int, float], Position], columns: bool) -> list[Row]:
    rows: list[Row] = []
    for output in range(count):
        index, fraction = position(output, factor)
        if columns and not 0 <= index < size - 1:
            index, fraction = _inside(index, size), np.float32(0)
        weights = _fixed(np.float32(1) - fraction), _fixed(fraction)
        rows.append([(_inside(index, size), weights[0]), (_inside(index + 1, size), weights[1])])
    return rows


def _linear(x: Array, size: tuple[int, int], factors: tuple[float, float], position: Callable[[int, float], Position]) -> Array:
    """A fraction of 11 bits, of which 4 are dropped behind the first pass; each product of the second drops 16."""
    between = added(x, -2, _two_taps(x.shape[-2], size[1], factors[1], position, True)) >> 4
    rows = _two_taps(x.shape[-3], size[0], factors[0], position, False)
    parts = [added(between, -3, [[row[tap]] for row in rows]) >> 16 for tap in (0, 1)]
    return clipped((parts[0] + parts[1] + 2) >> 2)


def _exact_taps(size: int, count: int, factor: float) -> list[Row]:
    rows: list[Row] = []
    for output in range(count):
        position = 1.0 / factor * (output + 0.5) - 0.5
        index = math.floor(position)
        if index < 0 or size == 1 or index >= size - 1:
            rows.append([(0 if index < 0 or size == 1 else size - 1, 256)])
        else:
            second = round((position - index) * 256)
            rows.append([(index, 256 - second), (index + 1, second)])
    return rows


def _linear_exact(x: Array, size: tuple[int, int], factors: tuple[float, float]) -> Array:
    between = added(x, -2, _exact_taps(x.shape[-2], size[1], factors[1]))
    return clipped((added(between, -3, _exact_taps(x.shape[-3], size[0], factors[0])) + 32768) >> 16)


# --- area ---------------------------------------------------------------------------------------------------------------


def _area_taps(size: int, count: int, factor: float) -> list[Row]:
    """The inputs that an output covers, in part at its ends."""
    scale = 1.0 / factor
    rows: list[Row] = []
    for output in range(count):
        begin = output * scale
        end = begin + scale
        cell = min(scale, size - begin)
        last = min(math.floor(end), size - 1)
        first = min(math.ceil(begin), last)
        row = []
        if first - begin > 1e-3:
            row.append((first - 1, np.float32((first - begin) / cell)))
        row += [(index, np.float32(1.0 / cell)) for index in range(first, last)]
        if end - last > 1e-3:
            row.append((last, np.float32(min(end - last, 1.0, cell) / cell)))
        rows.append(row)
    return rows


def _area(x: Array, size: tuple[int, int], factors: tuple[float, float]) -> Array:
    between = added_floats(x, -2, _area_taps(x.shape[-2], size[1], factors[1]))
    return clipped(added_floats(between, -3, _area_taps(x.shape[-3], size[0], factors[0])))


def _blocks(x: Array, size: tuple[int, int], factors: tuple[int, int]) -> Array:
    """The mean of whole blocks. Those that the edge cuts are divided by what they have.

    A mean between two integers becomes the even one. Blocks of 2 x 2 of 1, 3 or 4 channels have a loop of their own in OpenCV,
    which rounds up.
    """
    whole = factors[0] * factors[1]
    result = np.empty((*x.shape[:-3], *size, x.shape[-1]), np.uint8)
    for row, column in np.ndindex(*size):
        y, x_ = row * factors[0], column * factors[1]
        block = x[..., y : y + factors[0], x_ : x_ + factors[1], :].astype(np.int64)
        count, total = block.shape[-3] * block.shape[-2], block.sum((-3, -2))
        if count < whole:
            mean = clipped(total.astype(np.float32) / np.float32(count))
        elif factors == (2, 2) and x.shape[-1] in (1, 3, 4):
            mean = clipped((total + 2) >> 2)
        else:
            mean = clipped(total.astype(np.float32) * (np.float32(1) / np.float32(whole)))
        result[..., row, column, :] = mean
    return result


def _whole(factor: float) -> int:
    """The reciprocal of a factor if it is an integer, within an error of rounding; else 0."""
    nearest = round(1.0 / factor)
    return nearest if abs(1.0 / factor - nearest) < 2.0**-52 else 0


# --- cubic, lanczos4 ----------------------------------------------------------------------------------------------------


def _cubic_weights(f: np.float32) -> list[np.float32]:
    a, one = np.float32(-0.75), np.float32(1)
    two, three, four, five, eight = map(np.float32, (2, 3, 4, 5, 8))
    u, v = f + one, one - f
    c0 = ((a * u - five * a) * u + eight * a) * u - four * a
    c1 = ((a + two) * f - (a + three)) * f * f + one
    c2 = ((a + two) * v - (a + three)) * v * v + one
    return [c0, c1, c2, one - c0 - c1 - c2]


def _lanczos_weights(f: np.float32) -> list[np.float32]:
    """Sine and cosine of the first tap's angle give those of all."""
    half = 0.70710678118654752440084436210485
    turns = ((1, 0), (-half, -half), (0, 1), (half, -half), (-1, 0), (half, half), (0, -1), (-half, half))
    begin = f + np.float32(3)
    angle = -float(begin) * math.pi * 0.25
    sine, cosine = math.sin(angle), math.cos(angle)
    weights, total = [], np.float32(0)
    for tap, (of_sine, of_cosine) in enumerate(turns):
        x = begin - np.float32(tap)
        y = -float(x) * math.pi * 0.25
        near = abs(x) < np.float32(1e-6)
        weights.append(np.float32(1e30) if near else np.float32((of_sine * sine + of_cosine * cosine) / (y * y)))
        total = total + weights[-1]
    inverse = np.float32(1) / total
    return [weight * inverse for weight in weights]


def _many_taps(
    size: int, count: int, factor: float, weights: Callable[[np.float32], list[np.float32]], before: int
) -> list[Row]:
    rows: list[Row] = []
    for output in range(count):
        index, fraction = _centre(output, factor)
        taps = enumerate(weights(fraction), index - before)
        rows.append([(_inside(tap, size), _fixed(weight)) for tap, weight in taps])
    return rows


def _cubic(x: Array, size: tuple[int, int], factors: tuple[float, float]) -> Array:
    """The first items of a row, as many as fill vectors of 8, in float32, the last tap first; others in integers."""
    between = added(x, -2, _many_taps(x.shape[-2], size[1], factors[1], _cubic_weights, 1))
    rows = _many_taps(x.shape[-3], size[0], factors[0], _cubic_weights, 1)
    integers = clipped((added(between, -3, rows) + 2**21) >> 22)
    floats = clipped(added_floats(between, -3, [row[::-1] for row in rows]) * np.float32(2.0**-22))
    items = np.arange(size[1] * x.shape[-1]).reshape(size[1], -1)
    vectors: Array = np.where(items < items.size // 8 * 8, floats, integers)
    return vectors


def _lanczos4(x: Array, size: tuple[int, int], factors: tuple[float, float]) -> Array:
    between = added(x, -2, _many_taps(x.shape[-2], size[1], factors[1], _lanczos_weights, 3))
    rows = _many_taps(x.shape[-3], size[0], factors[0], _lanczos_weights, 3)
    return clipped((added(between, -3, rows) + 2**21) >> 22)


# --- all ----------------------------------------------------------------------------------------------------------------


def _nearest(x: Array, size: tuple[int, int], mode: str, factors: tuple[float, float], version: tuple[int, int]) -> Array:
    for axis, count, factor in ((-3, size[0], factors[0]), (-2, size[1], factors[1])):
        old = x.shape[axis]
        index = nearest_index(old, count, factor) if mode == "nearest" else nearest_exact_index(old, count, version)
        x = x.take(index, axis)
    return x


def resized(x: Array, size: tuple[int, int], mode: str, factors: tuple[float, float] | None, version: tuple[int, int]) -> Array:
    """Resize images to (height, width); `factors`, fy and fx, are given where no size was."""
    old = x.shape[-3:-1]
    if size == old:
        return x
    factors = (size[0] / old[0], size[1] / old[1]) if factors is None else factors
    if mode.startswith("nearest"):
        return _nearest(x, size, mode, factors, version)
    whole = _whole(factors[0]), _whole(factors[1])
    if whole == (2, 2) and (mode == "linear" or (mode == "linear-exact" and x.shape[-1] != 2)):
        return _blocks(x, size, whole)
    if mode == "linear-exact":
        return _linear_exact(x, size, factors)
    if mode == "area" and all(1.0 / factor >= 1.0 for factor in factors):
        return _blocks(x, size, whole) if min(whole) else _area(x, size, factors)
    if mode in ("linear", "area"):
        return _linear(x, size, factors, _centre if mode == "linear" else _enlarged)
    return (_cubic if mode == "cubic" else _lanczos4)(x, size, factors)
