"""Sums along an axis, in plain NumPy: what the rules are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Row", "added", "added_floats", "clipped"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
# Of an output: the index of each input that is added, and its weight, in the order in which they are added.
Row: TypeAlias = Sequence[tuple[int, Any]]


def added(x: Array, axis: int, rows: Sequence[Row]) -> Array:
    """Integers: for each row the sum of weighted inputs."""
    inputs = np.moveaxis(x, axis, 0).astype(np.int64)
    sums = np.zeros((len(rows), *inputs.shape[1:]), np.int64)
    for output, row in enumerate(rows):
        for index, weight in row:
            sums[output] += inputs[index] * int(weight)
    return np.moveaxis(sums, 0, axis)


def added_floats(x: Array, axis: int, rows: Sequence[Row]) -> Array:
    """The same in float32, an operation at a time."""
    inputs = np.moveaxis(x, axis, 0).astype(np.float32)
    sums = np.zeros((len(rows), *inputs.shape[1:]), np.float32)
    for output, row in enumerate(rows):
        for index, weight in row:
            sums[output] = sums[output] + inputs[index] * np.float32(weight)
    return np.moveaxis(sums, 0, axis)


def clipped(x: Array) -> Array:
    """Numbers as bytes, floats rounded to the nearest even one first."""
    return np.clip(np.rint(x), 0, 255).astype(np.uint8)
