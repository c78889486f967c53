"""Scalars as elements of a dtype: the `value` of padding, and what is assigned to a device array. dmlops._core calls these."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dmlops.errors import shown

# Kinds of numbers as NumPy orders them: an element holds a number of its own kind, and of those before it.
BOOL, INTEGER, REAL, COMPLEX, NO_NUMBER = range(5)
OF_KIND = {"b": BOOL, "i": INTEGER, "u": INTEGER, "f": REAL, "c": COMPLEX}
OF_PYTHON = {bool: BOOL, int: INTEGER, float: REAL, complex: COMPLEX}


def kind_of(dtype: np.dtype[Any]) -> int:
    """Which kind of number a dtype's elements are."""
    if dtype.isbuiltin == 2:  # of another package, as ml_dtypes: small ints, or floats
        return INTEGER if np.can_cast(dtype, np.int64, "safe") else REAL
    return OF_KIND.get(dtype.kind, NO_NUMBER)


def item_of(value: Any, dtype: np.dtype[Any]) -> bytes:
    """Make the item that padding fills with, as ``numpy.full`` would.

    Parameters
    ----------
    value : object
        The argument `value`.
    dtype : dtype
        That of padding's input.

    Returns
    -------
    bytes
        One element. TypeError where the dtype is not for such values, OverflowError where the value does not fit.
    """
    plain = type(value) in (int, float) and value != 0  # 0.0 and -0.0 are equal, and differ
    return _known_item(value, dtype) if plain else _item(value, dtype)


def _item(value: Any, dtype: np.dtype[Any]) -> bytes:
    array = np.zeros((), dtype)
    try:
        if not _goes_into(value, dtype):
            raise TypeError("the dtype is for others")
        np.copyto(array, value, casting="unsafe")
        exact = _is_exact(array, value)
    except OverflowError:
        exact = False
    except (TypeError, ValueError):
        raise TypeError(f"value must be a scalar that input's dtype {dtype} holds, not {shown(value)}") from None
    if not exact:
        raise OverflowError(f"value {shown(value)} does not fit into input's dtype {dtype}")
    _clear_holes(array)
    return array.tobytes()


_known_item = functools.lru_cache(maxsize=64, typed=True)(_item)


def _goes_into(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether it is a scalar, and a dtype is for such scalars. A bool is an int here."""
    if not isinstance(value, (int, float, complex, str, bytes, np.generic, np.ndarray)) or getattr(value, "ndim", 0) > 0:
        return False
    kind = INTEGER if isinstance(value, int) else max(kind_of(np.asarray(value).dtype), INTEGER)
    most = kind_of(dtype)
    if most != NO_NUMBER:
        return kind <= max(most, INTEGER)
    return dtype.kind not in "mM" or kind in (INTEGER, NO_NUMBER)


def _is_exact(array: Any, value: Any) -> bool:
    """Whether what was stored is the value, of those where NumPy stores what is left of it."""
    if array.dtype.kind in "SU" and isinstance(value, (str, bytes)):
        return bool(len(value) <= array.dtype.itemsize // (4 if array.dtype.kind == "U" else 1))
    return kind_of(array.dtype) > INTEGER or bool(array.item() == value)


def _clear_holes(array: Any) -> None:
    """Zero the bytes of x87's long doubles that mean nothing, into which NumPy writes whatever a register holds."""
    if array.dtype.type in (np.longdouble, np.clongdouble) and np.finfo(np.longdouble).nmant == 63:
        parts = array.reshape(1).view(np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize)
        (parts[:, 10:] if array.dtype.isnative else parts[:, :-10])[...] = 0


def element_of(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Make an array of a scalar of Python's that is assigned to a device array.

    Parameters
    ----------
    value : object
        What is assigned.
    dtype : dtype
        That of the device array.

    Returns
    -------
    numpy.ndarray or None
        A 0-d array of the dtype, in which the value is what it was: 300 is no uint8. None for what is no such scalar.
    """
    kind = OF_PYTHON.get(type(value))
    if kind is None and type(value) not in (str, bytes):
        return None
    number = kind_of(dtype)
    fits = dtype.kind == ("U" if type(value) is str else "S") if kind is None else kind <= number < NO_NUMBER
    if not fits:
        raise TypeError(f"{shown(value)} does not go into an array of dtype {dtype}")
    array = np.asarray(value, dtype)
    if (number == INTEGER or kind is None) and array.item() != value:
        error = OverflowError if kind is not None else ValueError
        raise error(f"{shown(value)} does not fit into dtype {dtype}")
    return array
