"""Movements of NumPy arrays and device arrays alike, which several ONNX operators are made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import dmlops
from dmlops import DeviceArray

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array

__all__ = ["device_of", "repeated", "reshape", "runs_of", "take"]

Runs: TypeAlias = tuple[tuple[slice, slice], ...]


def _empty(like: AnyArray, shape: Sequence[int]) -> AnyArray:
    if isinstance(like, np.ndarray):
        return np.empty(tuple(shape), like.dtype)
    return dmlops.empty(tuple(shape), like.dtype, device=like.device)


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


def runs_of(index: Array) -> Runs:
    """Cut an index into arithmetic progressions: slices of the result and of the source, of size 1 for a repeated element."""
    steps = np.diff(index)
    ends = np.append(np.flatnonzero(np.diff(steps)) + 1, len(steps))  # where each stretch of equal steps ends
    runs, begin = [], 0
    while begin < len(index):
        end, first, step = len(index), int(index[begin]), 1
        if begin < len(steps):
            end, step = int(ends[np.searchsorted(ends, begin, "right")]) + 1, int(steps[begin])
        stop = first + (end - begin) * step
        runs.append((slice(begin, end), slice(first, None if stop < 0 else stop, step) if step else slice(first, first + 1)))
        begin = end
    return tuple(runs)


def take(a: AnyArray, runs: Mapping[int, Runs]) -> AnyArray:
    """The elements at the given indices along each axis, as ``a[numpy.ix_(...)]`` has them: one copy for each run of them."""
    if not isinstance(a, (np.ndarray, DeviceArray)):  # a traced array, to which nothing is assigned
        for axis, pieces in runs.items():
            index = np.zeros(pieces[-1][0].stop if pieces else 0, np.int64)
            for target, source in pieces:
                index[target] = np.arange(a.shape[axis])[source]
            a = np.take(a, index, axis)
        return a
    if len(runs) > 1 and math.prod(map(len, runs.values())) > 64:  # fewer copies if each axis has a pass of its own
        for axis in runs:
            a = take(a, {axis: runs[axis]})
        return a
    shape = list(a.shape)
    for axis, pieces in runs.items():
        shape[axis] = pieces[-1][0].stop if pieces else 0
    out = None
    for combination in itertools.product(*runs.values()):
        target, source = [slice(None)] * a.ndim, [slice(None)] * a.ndim
        for axis, piece in zip(runs, combination, strict=True):
            target[axis], source[axis] = piece
        view = a[tuple(source)]
        if out is None and view.shape == tuple(shape):
            return view
        out = _empty(a, shape) if out is None else out
        out[tuple(target)] = view
    return _empty(a, shape) if out is None else out
