"""Entries: arrays of indices, and the sequence lengths of reverse_subsequences; what is one, and which are in range.

dmlops._core calls this for lengths that are no array of NumPy's integers, and for errors about lengths and indices.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from dmlops import _core  # which imports this before it has a DeviceArray
from dmlops.refused_arrays import no_array
from dmlops.scalars import INTEGER, kind_of

__all__ = [
    "checked",
    "from_the_start",
    "index_array",
    "integers",
    "lengths_of",
    "negative_length",
    "wrong_index",
]

_Array = np.ndarray[Any, np.dtype[Any]]
NAME = "sequence_lengths"
INT64 = np.iinfo(np.int64)


def lengths_of(given: Any, array: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """Make an array of int64 of lists, of Python's objects, and of the integers of other packages, as ml_dtypes.

    Parameters
    ----------
    given : object
        The argument.
    array : numpy.ndarray or None
        What NumPy makes of it; None of a list or tuple.

    Returns
    -------
    numpy.ndarray
        The lengths. An int beyond int64 becomes the nearest int64: it is clamped, or refused as negative, just the same.
    """
    if array is None:
        try:
            array = np.asarray(given)
        except (ValueError, TypeError) as cause:
            raise no_array(NAME, given, cause)
        objects = np.asarray(given, object)
        if array.dtype == np.int64 and {int}.issuperset(map(type, objects.ravel().tolist())):
            return array
        array = objects
    if array.dtype == object:
        return _of_objects(array)
    nothing = not isinstance(given, np.ndarray) and array.size == 0  # which NumPy calls float64
    if nothing or kind_of(array.dtype) == INTEGER:
        return array.astype(np.int64)
    raise TypeError(f"{NAME} must be of an integer dtype, not {array.dtype}")


def _of_objects(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wanted = "of ints" if array.ndim else "an array or list of ints"  # a set or generator is one object
    lengths = []
    for entry in array.ravel().tolist():
        if not _is_int(entry):
            raise TypeError(f"{NAME} must be {wanted}, not {type(entry).__name__}")
        lengths.append(min(max(operator.index(entry), INT64.min), INT64.max))
    return np.array(lengths, np.int64).reshape(array.shape)


def _is_int(entry: Any) -> bool:
    """Whether it has ``__index__`` and is no bool."""
    if isinstance(entry, np.ndarray):  # every array has it; it works for 0-d arrays of ints
        return entry.ndim == 0 and entry.dtype.kind in "iu"
    return hasattr(type(entry), "__index__") and not isinstance(entry, (bool, np.bool_))


def negative_length(lengths: np.ndarray[Any, Any], flat: int) -> NoReturn:
    """Raise ValueError for the negative length at an index in C order."""
    value = int(lengths.flat[flat])
    where = ", ".join(str(index) for index in np.unravel_index(flat, lengths.shape))
    less = " or less" if value == INT64.min else ""
    raise ValueError(f"{NAME}[{where}] is {value}{less}; a length must be 0 or more")


def wrong_index(indices: np.ndarray[Any, Any], flat: int, size: int) -> NoReturn:
    """Raise IndexError for the entry at an index in C order, of an axis of that size."""
    where = ", ".join(str(index) for index in np.unravel_index(flat, indices.shape))
    place = f"indices[{where}]" if where else "indices"
    allowed = f"in [-{size}, {size})" if size else "of an axis that has elements, not size 0"
    raise IndexError(f"{place} is {int(indices.flat[flat])}; an index must be {allowed}")


# --- indices -----------------------------------------------------------------------------------------------------------


def index_array(indices: Any) -> Any:
    """Indices as an array; NumPy calls an empty list one of float64."""
    array = np.asarray(indices)
    return array.astype(np.intp) if array.size == 0 and not isinstance(indices, np.ndarray) else array


def integers(indices: Any) -> Any:
    """Indices as an array of the machine's integers, or as the device array that they are."""
    if isinstance(indices, _core.DeviceArray):
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
