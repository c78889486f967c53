"""The sequence lengths of reverse_subsequences, where they are no array of NumPy's integers, and errors about lengths and
indices. dmlops._core calls these."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from dmlops.refused_arrays import no_array
from dmlops.scalars import INTEGER, kind_of

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
