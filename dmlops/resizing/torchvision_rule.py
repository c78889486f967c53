"""The rule of PyTorch's kernel for bytes, which torchvision calls: weights in double, cut to 16 bits, bytes between the passes.

Images have the axes (..., height, width, others).
"""

from __future__ import annotations

import math

import numpy as np

from dmlops.resizing.pillow_rule import lanczos, rounded_away
from dmlops.resizing.sums import Array, Row, added, clipped

__all__ = ["nearest_index", "resized", "rows_of"]

TAPS = {"bilinear": 2, "bicubic": 4, "lanczos": 6}
Weights = list[list[tuple[int, float]]]


def _cubic(x: float, a: float) -> float:
    if x < 1.0:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2.0 else 0.0


def _at(interpolation: str, x: float, a: float) -> float:
    if interpolation == "bilinear":
        return max(1.0 - abs(x), 0.0)
    return _cubic(abs(x), a) if interpolation == "bicubic" else lanczos(abs(x))


def _antialiased(interpolation: str, size: int, count: int) -> tuple[Weights, float]:
    scale = size / count
    support, inverse = TAPS[interpolation] * 0.5 * max(scale, 1.0), 1.0 / max(scale, 1.0)
    rows: Weights = []
    for output in range(count):
        centre = scale * (output + 0.5)
        first = max(int(centre - support + 0.5), 0)
        last = min(int(centre + support + 0.5), size, first + 2 * math.ceil(support) + 1)
        weights = [_at(interpolation, (index - centre + 0.5) * inverse, -0.5) for index in range(first, last)]
        total = 0.0
        for weight in weights:
            total += weight
        rows.append([(first + k, weight / total if total != 0.0 else weight) for k, weight in enumerate(weights)])
    return rows, max(0.0, *(weight for row in rows for _, weight in row))


def _plain(interpolation: str, size: int, count: int) -> tuple[Weights, float]:
    """Without antialiasing; the largest weight may be one that another is still to be added to."""
    scale, half, largest = size / count, TAPS[interpolation] // 2, 0.0
    rows: Weights = []
    for output in range(count):
        centre = scale * (output + 0.5) - 0.5
        centre = max(centre, 0.0) if interpolation == "bilinear" else centre
        base = min(math.floor(np.float32(centre)), size - 1)
        fraction = min(max(centre - base, 0.0), 1.0)
        at: dict[int, float] = {}
        for tap in range(1 - half, half + 1):
            index = min(max(base + tap, 0), size - 1)
            at[index] = at.get(index, 0.0) + _at(interpolation, tap - fraction, -0.75)
            largest = max(largest, at[index])
        rows.append(sorted(at.items()))
    return rows, largest


def rows_of(interpolation: str, size: int, count: int, antialias: bool) -> tuple[list[Row], int]:
    """Integer weights, and how many bits of them are a fraction: as many as leave the largest an int16."""
    rows, largest = (_antialiased if antialias else _plain)(interpolation, size, count)
    bits = 0
    while bits < 22 and int(0.5 + largest * 2 ** (bits + 1)) < 2**15:
        bits += 1
    return [[(index, rounded_away(weight * 2**bits)) for index, weight in row] for row in rows], bits


def nearest_index(size: int, count: int, exact: bool, small: bool) -> list[int]:
    """Indices of an axis, in float32; `small` results come from another kernel, which rounds elsewhere."""
    scale, index = np.float32(size) / np.float32(count), []
    for output in range(count):
        if not exact:
            position = float(np.float32(output) * scale)
        elif small:
            position = float(np.float32((output + 0.5) * float(scale)))
        else:  # the product is not rounded before the subtraction
            centre = max(np.float32(float(scale) * (output + 0.5) - 0.5), np.float32(0))
            position = float(np.float32(float(centre) + 0.5))
        index.append(min(math.floor(position), size - 1))
    return index


def resized(x: Array, size: tuple[int, int], interpolation: str, antialias: bool) -> Array:
    """Resize images to (height, width)."""
    for axis, new in ((-2, size[1]), (-3, size[0])):
        if interpolation.startswith("nearest"):
            exact, small = interpolation == "nearest-exact", sum(size) <= 128
            x = x.take(nearest_index(x.shape[axis], new, exact, small), axis)
        elif x.shape[axis] != new:
            rows, bits = rows_of(interpolation, x.shape[axis], new, antialias)
            x = clipped((added(x, axis, rows) + (1 << bits >> 1)) >> bits)
    return x
