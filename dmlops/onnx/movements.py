"""Movements of NumPy arrays and device arrays alike, which several ONNX operators are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import dmlops
from dmlops import DeviceArray

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array

__all__ = ["device_of", "expanded", "repeated", "reshape", "take"]


def device_of(*arrays: AnyArray) -> str | None:
    """Where the operators of dmlops run: NumPy arrays are shapes and constants here, which stay on the host."""
    return "host" if all(isinstance(a, np.ndarray) for a in arrays) else None


def reshape(a: AnyArray, shape: Sequence[int]) -> AnyArray:
    """A view in another shape, or of a copy if the strides do not allow it."""
    try:
        return a.reshape(tuple(shape))
    except ValueError:  # also for a shape of another size, which raises again
        return a.copy().reshape(tuple(shape))


def repeated(a: AnyArray, repeats: Sequence[int]) -> AnyArray:
    """The array itself, or a copy of it so many times along each axis."""
    return a if list(repeats) == [1] * a.ndim else dmlops.tile(a, repeats, device=device_of(a))


def expanded(a: AnyArray, shape: Sequence[int]) -> AnyArray:
    """The array, broadcast against a shape."""
    wanted = np.broadcast_shapes(a.shape, tuple(shape))
    a = a[(None,) * (len(wanted) - a.ndim) + (...,)]
    return repeated(a, [size if old == 1 else 1 for old, size in zip(a.shape, wanted, strict=True)])


def take(a: AnyArray, index: Array, axis: int) -> AnyArray:
    """The elements at indices from 0 on along an axis: a view where the indices have one step, else a copy."""
    steps = np.diff(index)
    if len(index) < 2 or (steps[0] != 0 and (steps == steps[0]).all()):
        first, step = (int(index[0]) if len(index) else 0), (int(steps[0]) if len(steps) else 1)
        stop = first + len(index) * step
        return a[(slice(None),) * axis + (slice(first, None if stop < 0 else stop, step),)]
    if isinstance(a, (np.ndarray, DeviceArray)):
        return dmlops.take(a, index, axis, device=device_of(a))
    return np.take(a, index, axis)  # of a traced array
