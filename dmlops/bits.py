"""Which elements of two arrays differ in a bit that means something; and arrays with the strides of others."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["copied", "differ", "meaningful", "strided"]


@functools.lru_cache(maxsize=64)
def meaningful(dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """The bytes of an element that NumPy copies, as a mask of 0 and 255; None for all of them.

    x87's long doubles have ten bytes in twelve or sixteen; the others hold whatever a register held. Between the fields of
    structures are bytes that no copy by NumPy has.
    """
    mask = np.zeros(dtype.itemsize, np.uint8)
    _mark(mask, dtype)
    return None if mask.all() else mask


def _mark(mask: Any, dtype: np.dtype[Any]) -> None:
    """Set the bytes of an element that mean something; the mask has them all."""
    if dtype.subdtype is not None:
        base = dtype.subdtype[0]
        for start in range(0, dtype.itemsize, max(1, base.itemsize)):
            _mark(mask[start : start + base.itemsize], base)
    elif dtype.fields is not None:
        for field, offset, *_ in dtype.fields.values():
            _mark(mask[offset : offset + field.itemsize], field)
    elif dtype.type in (np.longdouble, np.clongdouble) and np.finfo(np.longdouble).nmant == 63:
        size = np.dtype(np.longdouble).itemsize
        parts = mask.reshape(-1, size)
        parts[:, slice(10) if dtype.isnative else slice(size - 10, size)] = 255
    else:
        mask[:] = 255


def differ(one: Any, other: Any, whole: bool = False) -> Any:
    """Whether each element differs from the other array's, which has the same shape and dtype; `whole`: in any bit."""
    if one.dtype.itemsize == 0 or one.size == 0:
        return np.zeros(one.shape, bool)
    mask = None if whole else meaningful(one.dtype)
    arrays = [np.ascontiguousarray(array).reshape(-1) for array in (one, other)]
    if mask is None and one.dtype.itemsize in (1, 2, 4, 8):  # as integers, which is fast
        words = [array.view(f"u{one.dtype.itemsize}") for array in arrays]
        return (words[0] != words[1]).reshape(one.shape)
    bytes_of = [array.view(np.uint8).reshape(*one.shape, -1) for array in arrays]
    different = bytes_of[0] != bytes_of[1] if mask is None else (bytes_of[0] ^ bytes_of[1]) & mask != 0
    return different.any(axis=-1)


# --- strides ------------------------------------------------------------------------------------------------------------


def strided(shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int]) -> tuple[Any, Any, int]:
    """An array of zeros with these strides, the memory that it lies in, and the byte there at which it begins."""
    if not all(shape):
        strides = np.empty(shape, dtype).strides
    ends = [stride * max(0, size - 1) for size, stride in zip(shape, strides, strict=True)]
    first = -sum(end for end in ends if end < 0)
    memory = np.zeros(first + sum(end for end in ends if end > 0) + max(1, dtype.itemsize), np.uint8)
    return np.ndarray(shape, dtype, memory, first, strides), memory, first


_MOST_SPARSE = 1 << 20  # bytes between the elements of a copy


def copied(array: Any) -> Any:
    """A copy of an array that can be changed, with its strides, unless its elements lie far apart."""
    reach = sum(abs(stride) * max(0, size - 1) for stride, size in zip(array.strides, array.shape, strict=True))
    if array.flags.c_contiguous or array.dtype.hasobject or reach > 2 * array.nbytes + _MOST_SPARSE:
        return np.array(array)
    made, _, _ = strided(array.shape, array.dtype, array.strides)
    made[...] = array
    return made
