"""A resampling of the extension, run by NumPy: the weights are the extension's, all else is not."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from dmlops import _core
from dmlops.resizing.steps import window_view

__all__ = ["resampled"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_CLIP, _SHIFT, _FLOORS, _FLOAT, _ROUND, _CUBIC, _TIMES, _OVER, _REDUCE = range(9)  # dml_sum_kind
_NUMBERS = (np.uint8, np.uint16, np.int32, np.float32)  # dml_number


def resampled(array: Any, resampling: Any, axes: tuple[int, int], window: tuple[int, int, int, int] | None = None) -> Any:
    """What `_core._resample` makes of an array of bytes."""
    passes, parts = _core._resampling_described(resampling)
    x = np.asarray(array)
    for one in passes[:-1]:
        kind, shift, number = one[6:9]
        x = _finished(_sums(x, axes, one, kind, shift), kind, shift).astype(_NUMBERS[number])
    result: Any = None
    for begin, end, kind, shift, half, multiplier, factor in parts:
        made = _finished(_sums(x, axes, passes[-1], kind, shift), kind, shift, half, multiplier, np.float32(factor))
        result = np.zeros(made.shape, np.uint8) if result is None else result
        np.copyto(result, made.astype(np.uint8), where=_inside(made.shape, axes, begin, end))
    if window is None:
        return result
    return np.ascontiguousarray(window_view(result, axes, window[::2], window[1::2]))


def _sums(x: Array, axes: tuple[int, int], one: Any, kind: int, shift: int) -> Array:
    """The sums of a pass along its axis, tap after tap."""
    which, inputs, taps, _, is_float, *_, rows = one
    table = np.frombuffer(rows, np.int32).reshape(-1, 1 + taps)
    weights: Any = table[:, 1:].view(np.float32) if is_float else table[:, 1:].astype(np.int64)
    order = range(taps)
    if kind in (_FLOAT, _ROUND, _CUBIC):
        x = x.astype(np.float32)
        if kind == _CUBIC:
            weights, order = weights.astype(np.float32) * np.float32(2.0**-shift), range(taps)[::-1]
    else:
        x = x.astype(np.int64)
    axis = axes[which]
    along = [1] * x.ndim
    along[axis] = -1
    total: Any = 0
    for tap in order:
        product = x.take(np.clip(table[:, 0] + tap, 0, inputs - 1), axis) * weights[:, tap].reshape(along)
        total = total + (product >> shift if kind == _FLOORS else product)
    return np.asarray(total)


def _finished(total: Array, kind: int, shift: int, half: int = 0, multiplier: int = 0, factor: Any = 0) -> Array:
    """What a pass makes of its sums."""
    if kind == _SHIFT:
        return total >> shift
    if kind == _FLOORS:
        return (total + 2) >> 2
    if kind == _REDUCE:
        return ((total + half) * multiplier % 2**32) >> 24
    if kind == _CLIP:
        return np.asarray(np.clip((total + (1 << shift >> 1)) >> shift, 0, 255))
    if kind == _FLOAT:
        return total
    if kind in (_TIMES, _OVER):
        total = total.astype(np.float32)
        total = total * factor if kind == _TIMES else total / factor
    return np.asarray(np.clip(np.rint(total), 0, 255))


def _inside(shape: tuple[int, ...], axes: tuple[int, int], begin: Any, end: Any) -> Array:
    """Where a part of a result lies: a box of rows, of columns, and of the items that follow each other in a column."""
    rows, columns = axes
    behind = [size if axis > columns and axis != rows else 1 for axis, size in enumerate(shape)]
    items = np.arange(math.prod(behind)).reshape(behind)
    found = (items >= begin[2]) & (items < end[2])
    for axis, first, last in zip(axes, begin, end, strict=False):
        indices = np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
        found = found & (indices >= first) & (indices < last)
    return np.broadcast_to(found, shape)
