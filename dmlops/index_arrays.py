"""Arrays of indices: what is one, and which are in range."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.lengths import wrong_index
from dmlops.refused_arrays import no_array

__all__ = ["checked", "from_the_start", "index_array", "integers"]

_Array = np.ndarray[Any, np.dtype[Any]]


def index_array(indices: Any) -> Any:
    """Indices as an array; NumPy calls an empty list one of float64."""
    array = np.asarray(indices)
    return array.astype(np.intp) if array.size == 0 and not isinstance(indices, np.ndarray) else array


def integers(indices: Any) -> Any:
    """Indices as an array of the machine's integers, or as the device array that they are."""
    if isinstance(indices, DeviceArray):
        return indices
    try:
        array = index_array(indices)
    except (ValueError, TypeError) as cause:
        raise no_array("indices", indices, cause)
    if array.dtype.kind not in "iu":
        raise TypeError(f"indices must be of an integer dtype, not {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def checked(index: _Array, axis: int, size: int) -> _Array:
    """Indices of an axis, counted from its beginning. IndexError, as NumPy words it, if one is out of range."""
    flat = _first_wrong(index, size)
    if flat is not None:
        raise IndexError(f"index {int(index.flat[flat])} is out of bounds for axis {axis} with size {size}")
    return from_the_start(index, size, False)


def from_the_start(here: _Array, sizes: Any, read: bool) -> _Array:
    """Indices that count from the beginning of an axis. IndexError for one that is out of range, where any is read."""
    flat = _first_wrong(here, sizes) if read else None
    if flat is not None:
        wrong_index(here, flat, int(np.broadcast_to(sizes, here.shape).flat[flat]))
    wide = here.astype(np.int64)
    return np.where(wide < 0, wide + sizes, wide)


def _first_wrong(here: _Array, sizes: Any) -> int | None:
    """The place of the first index that is out of range, in C order."""
    if here.dtype.kind == "u":
        wrong = here.astype(np.uint64) >= np.asarray(sizes).astype(np.uint64)
    else:
        wrong = (here < -sizes) | (here >= sizes)
    return int(np.argmax(wrong)) if wrong.any() else None
