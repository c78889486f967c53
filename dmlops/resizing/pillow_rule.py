"""Pillow's rule for bytes: weights in double, sums in integers, bytes between the two passes.

Images have the axes (..., height, width, channels).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dmlops.resizing.sums import Array, Row, added, clipped

__all__ = ["SUPPORT", "nearest_index", "reduced", "resized", "rows_of"]

SUPPORT = {"box": 0.5, "bilinear": 1.0, "hamming": 1.0, "bicubic": 2.0, "lanczos": 3.0, "mks2013": 2.5, "mks2021": 4.5}
BITS = 22  # of a weight's fraction
Box = tuple[float, float, float, float]  # left, top, right, bottom


def single(value: float) -> float:
    return float(np.float32(value))


# --- weights ------------------------------------------------------------------------------------------------------------


def _sinc(x: float) -> float:
    return 1.0 if x == 0.0 else math.sin(x * math.pi) / (x * math.pi)


def lanczos(x: float) -> float:
    return _sinc(x) * _sinc(x / 3.0) if -3.0 <= x < 3.0 else 0.0


def _hamming(x: float) -> float:
    if x == 0.0:
        return 1.0
    angle = x * math.pi
    return 0.0 if x >= 1.0 else math.sin(angle) / angle * (single(0.54) + single(0.46) * math.cos(angle))


def _bicubic(x: float) -> float:
    if x < 1.0:
        return (1.5 * x - 2.5) * x * x + 1.0
    return (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5 if x < 2.0 else 0.0


def _mks2013(x: float) -> float:
    if x < 0.5:
        return 17 / 16 - 7 / 4 * (x * x)
    if x < 1.5:
        return (1.0 - x) * (1.75 - x)
    return -0.125 * ((x - 2.5) * (x - 2.5)) if x < 2.5 else 0.0


def _mks2021(x: float) -> float:
    if x < 0.5:
        return 577 / 576 - 239 / 144 * (x * x)
    if x < 1.5:
        return 35 / 36 * (x - 1.0) * (x - 239 / 140)
    if x < 2.5:
        return 1 / 6 * (x - 2.0) * (65 / 24 - x)
    if x < 3.5:
        return 1 / 36 * (x - 3.0) * (x - 15 / 4)
    return -1 / 288 * ((x - 4.5) * (x - 4.5)) if x < 4.5 else 0.0


def _at(resample: str, x: float) -> float:
    """The filter at a distance from its centre."""
    if resample == "box":
        return 1.0 if -0.5 < x <= 0.5 else 0.0
    if resample == "lanczos":
        return lanczos(x)
    if resample == "bilinear":
        return max(1.0 - abs(x), 0.0)
    return {"hamming": _hamming, "bicubic": _bicubic, "mks2013": _mks2013, "mks2021": _mks2021}[resample](abs(x))


def rounded_away(value: float) -> int:
    return int(value - 0.5) if value < 0 else int(value + 0.5)


def rows_of(resample: str, size: int, begin: float, end: float, count: int) -> list[Row]:
    """Integer weights of `count` outputs, which lie between two positions of an axis of `size` inputs."""
    begin, end = single(begin), single(end)
    scale = float(np.float32(end) - np.float32(begin)) / count
    support, inverse = SUPPORT[resample] * max(scale, 1.0), 1.0 / max(scale, 1.0)
    rows: list[Row] = []
    for output in range(count):
        centre = begin + (output + 0.5) * scale
        inputs = range(max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), size))
        weights = [_at(resample, (index - centre + 0.5) * inverse) for index in inputs]
        total = 0.0
        for weight in weights:  # `sum` of Python 3.12 and later is more exact
            total += weight
        weights = [weight / total if total != 0.0 else weight for weight in weights]
        rows.append([(index, rounded_away(weight * 2**BITS)) for index, weight in zip(inputs, weights, strict=True)])
    return rows


def nearest_index(begin: float, end: float, count: int, words: bool = False) -> list[int]:
    """Indices of an axis: the position is accumulated, but for images of 16 bits (`words`)."""
    step = float(np.float32(end) - np.float32(begin)) / count
    if words:
        return [int(step * (output + 0.5) + single(begin)) for output in range(count)]
    position, index = single(begin) + step * 0.5, []
    for _ in range(count):
        index.append(int(position))
        position += step
    return index


# --- bytes --------------------------------------------------------------------------------------------------------------


def passed(x: Array, axis: int, rows: list[Row]) -> Array:
    return clipped((added(x, axis, rows) + 2 ** (BITS - 1)) >> BITS)


def premultiplied(x: Array) -> Array:
    """Each channel times the last one, which is alpha."""
    alpha = x[..., -1:].astype(np.int64)
    product = x[..., :-1] * alpha + 128
    return np.concatenate([((product + (product >> 8)) >> 8).astype(np.uint8), x[..., -1:]], -1)


def unpremultiplied(x: Array) -> Array:
    alpha, channels = x[..., -1:].astype(np.int64), x[..., :-1].astype(np.int64)
    quotient = np.minimum(255 * channels // np.maximum(alpha, 1), 255)
    kept = (alpha == 0) | (alpha == 255)
    return np.concatenate([np.where(kept, channels, quotient).astype(np.uint8), x[..., -1:]], -1)


def reduced(x: Array, factors: tuple[int, int]) -> Array:
    """The mean of blocks of (height, width); those at the end may be smaller."""
    height, width = x.shape[-3:-1]
    result = np.empty((*x.shape[:-3], -(-height // factors[0]), -(-width // factors[1]), x.shape[-1]), np.uint8)
    for row, column in np.ndindex(result.shape[-3:-1]):
        y, x_ = row * factors[0], column * factors[1]
        block = x[..., y : y + factors[0], x_ : x_ + factors[1], :].astype(np.int64)
        count = block.shape[-3] * block.shape[-2]
        multiplier = int(np.float32(2.0**32) / np.float32(256 * count))
        total = (block.sum((-3, -2)) + count // 2) % 2**32 * multiplier % 2**32
        result[..., row, column, :] = total >> 24
    return result


def _is_crop(box: Box, size: tuple[int, int]) -> bool:
    left, top, right, bottom = (np.float32(value) for value in box)
    whole = left == np.trunc(left) and top == np.trunc(top)
    return bool(whole and float(right - left) == size[1] and float(bottom - top) == size[0])


def _passes(x: Array, size: tuple[int, int], resample: str, box: Box, rows_first: bool) -> Array:
    if _is_crop(box, size):
        row, column = int(box[1]), int(box[0])
        return x[..., row : row + size[0], column : column + size[1], :]
    height, width = x.shape[-3:-1]
    left, top, right, bottom = map(single, box)
    axes = [(-2, width, left, right, size[1]), (-3, height, top, bottom, size[0])]
    for axis, old, begin, end, new in reversed(axes) if rows_first else axes:
        if new != old or begin != 0.0 or end != new:
            x = passed(x, axis, rows_of(resample, old, begin, end, new))
    return x


def _resampled(x: Array, size: tuple[int, int], resample: str, box: Box, version: tuple[int, int]) -> Array:
    height, width = x.shape[-3:-1]
    if (12, 2) <= version < (13, 0) and height > 100 * width and size[0] < height:  # two calls, of which each may crop
        x = _passes(x, (size[0], width), resample, (0, box[1], width, box[3]), False)
        return _passes(x, size, resample, (box[0], 0, box[2], size[0]), False)
    fewer_rows, fewer_columns = height - size[0], width - size[1]
    return _passes(x, size, resample, box, version >= (13, 0) and fewer_rows > max(0, 2 * fewer_columns))


def _nearest(x: Array, size: tuple[int, int], box: Box) -> Array:
    left, top, right, bottom = box
    words = x.dtype.kind == "u" and x.dtype.itemsize == 2
    return x.take(nearest_index(top, bottom, size[0], words), -3).take(nearest_index(left, right, size[1], words), -2)


def _gap(x: Array, size: tuple[int, int], resample: str, box: Box, gap: float) -> tuple[Array, Box]:
    """The image and its box, reduced by whole factors, so that `gap` times the result's size is left at least."""
    left, top, right, bottom = box
    factors = int((bottom - top) / size[0] / gap) or 1, int((right - left) / size[1] / gap) or 1
    if factors == (1, 1):
        return x, box
    height, width = x.shape[-3:-1]
    beyond = SUPPORT[resample] - 0.5
    across, down = beyond * ((right - left) / size[1]), beyond * ((bottom - top) / size[0])
    x0, y0 = max(0, int(left - across)), max(0, int(top - down))
    x1, y1 = min(width, math.ceil(right + across)), min(height, math.ceil(bottom + down))
    box = ((left - x0) / factors[1], (top - y0) / factors[0], (right - x0) / factors[1], (bottom - y0) / factors[0])
    return reduced(x[..., y0:y1, x0:x1, :], factors), box


def resized(
    x: Array,
    size: tuple[int, int],
    resample: str,
    box: Box | None,
    gap: float | None,
    alpha: bool,
    version: tuple[int, int],
) -> Any:
    """Resize images to (height, width)."""
    full = (0, 0, x.shape[-2], x.shape[-3])
    if size == x.shape[-3:-1] and box in (None, full):
        return x
    box = full if box is None else box
    alpha = alpha and resample != "nearest"
    if alpha:
        x = premultiplied(x)
    if gap is not None and resample != "nearest" and not (alpha and version < (13, 0)):
        x, box = _gap(x, size, resample, box, gap)
    if resample == "nearest" and not _is_crop(box, size):
        x = _nearest(x, size, box)
    else:
        x = _resampled(x, size, resample, box, version)
    return unpremultiplied(x) if alpha else x
