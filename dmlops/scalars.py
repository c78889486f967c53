"""Scalars as elements of a dtype: the `value` of padding, and what is assigned to a device array. dmlops._core calls these."""

from __future__ import annotations

import datetime
import functools
import math
import operator
from typing import Any

import numpy as np

from dmlops.errors import shown

# Kinds of numbers as NumPy orders them: an element holds a number of its own kind, and of those before it.
BOOL, INTEGER, REAL, COMPLEX, NO_NUMBER = range(5)
OF_KIND = {"b": BOOL, "i": INTEGER, "u": INTEGER, "f": REAL, "c": COMPLEX}
OF_PYTHON = {bool: BOOL, int: INTEGER, float: REAL, complex: COMPLEX}
SCALARS = (int, float, complex, str, bytes, np.generic)
TIMES = (datetime.date, datetime.timedelta, type(None))  # for datetimes and timedeltas only; None is NaT
SECONDS = {"Y": 31556952, "M": 2629746, "W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}
SECONDS |= {"ns": 1e-9, "ps": 1e-12, "fs": 1e-15, "as": 1e-18}


def kind_of(dtype: np.dtype[Any]) -> int:
    """Which kind of number a dtype's elements are."""
    if dtype.isbuiltin == 2:  # of another package, as ml_dtypes: small ints, floats or complex
        wider = (INTEGER, np.int64), (REAL, np.float64)
        return next((kind for kind, wide in wider if np.can_cast(dtype, wide, "safe")), COMPLEX)
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
    # 0.0 and -0.0 are equal, and differ. Whether smaller floats become denormals or 0 is a setting of the thread's FPU.
    kept = type(value) in (int, float) and not abs(value) < 1e-37
    return _known_item(value, dtype) if kept else _item(value, dtype)


def _item(value: Any, dtype: np.dtype[Any]) -> bytes:
    array = np.zeros((), dtype)
    scalar = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    held = _held(array, scalar) if isinstance(scalar, SCALARS + TIMES) else None
    if held is None:
        raise TypeError(f"value must be a scalar that input's dtype {dtype} holds, not {shown(value)}")
    if not held:
        raise OverflowError(f"value {shown(value)} does not fit into input's dtype {dtype}")
    return array.tobytes()


_known_item = functools.lru_cache(maxsize=64, typed=True)(_item)


def _held(array: Any, value: Any) -> bool | None:
    """Store a value as `store` does, and say whether it is held; None where the dtype is for others."""
    try:
        with np.errstate(all="ignore"):
            return store(array, value)
    except OverflowError:
        return False
    except (TypeError, ValueError):
        return None


def store(array: Any, value: Any) -> bool:
    """Store a value in an array of zeros, and in each field of a structure.

    Parameters
    ----------
    array : numpy.ndarray
        Of one element, or of the elements of a field that is an array.
    value : object
        A scalar, or an array from the field of another structure. TypeError or ValueError where the dtype is not for it.

    Returns
    -------
    bool
        Whether it is held. A float or a time is rounded to what the dtype has; what is too large or too long is not held.
    """
    names = array.dtype.names
    if names is not None:
        own = getattr(getattr(value, "dtype", None), "names", None)
        values = [value] * len(names) if own is None else [value[name] for name in own]
        return all([store(array[name], part) for name, part in zip(names, values, strict=True)])
    most = kind_of(array.dtype)
    source = np.asarray(value)
    if array.dtype.kind in "mM":
        return _store_time(array, source, value)
    number = INTEGER if isinstance(value, int) else max(kind_of(source.dtype), INTEGER)
    if isinstance(value, TIMES) or number > max(most, INTEGER) or (source.dtype.hasobject and number != INTEGER):
        raise TypeError("the dtype is for others")
    if array.dtype.kind in "SU":
        source = source.astype(array.dtype.kind)
    np.copyto(array, source, casting="unsafe")
    _clear_holes(array)
    if array.dtype.kind in "SU":
        return bool(np.all(array == source))
    if most == NO_NUMBER:
        return _no_more_bytes(source, array.shape, array.itemsize)
    return _same(array, value, _near if most > INTEGER else operator.eq)


def _same(array: Any, value: Any, same: Any) -> bool:
    """Whether a comparison of numbers of Python, which have any size, holds for all elements."""
    if array.ndim == 0:
        return bool(same(array.item(), value if isinstance(value, (int, float, complex)) else value.item()))
    return all(map(same, array.ravel().tolist(), np.broadcast_to(value, array.shape).ravel().tolist()))


def _near(stored: Any, exact: Any) -> bool:
    """Whether a float is what is nearest to a number: not infinite, NaN or the dtype's largest instead."""
    return _real_near(stored.real, exact.real) and _real_near(stored.imag, exact.imag)


def _real_near(stored: Any, exact: Any) -> bool:
    if stored == exact or exact != exact:
        return bool(stored == exact or stored != stored)
    return bool(abs(stored) < math.inf and (abs(exact) < 1 or abs(exact) < 2 * abs(stored)))


def _no_more_bytes(source: Any, shape: tuple[int, ...], size: int) -> bool:
    """Whether elements have nothing but zeros behind their first bytes."""
    raw, item = np.broadcast_to(source, shape).tobytes(), max(1, source.itemsize)
    return not any(any(raw[start + size : start + item]) for start in range(0, len(raw), item))


def _store_time(array: Any, source: Any, value: Any) -> bool:
    kind = array.dtype.kind
    if isinstance(value, TIMES + (str, bytes)):
        own = getattr(value, "asm8", None)  # of pandas: the scalar of NumPy, with nanoseconds
        scalar: Any = np.datetime64 if kind == "M" else np.timedelta64
        source = np.asarray(scalar(value) if own is None else own)
    time = source.dtype.kind in "mM"
    if time and source.dtype.kind != kind and not np.isnat(source).all():
        raise TypeError("the dtype is for others")
    if not time or np.datetime_data(source.dtype)[0] == "generic":  # in the dtype's own unit
        count = source.astype(np.int64) if time else value
        if not isinstance(value, int) and kind_of(np.asarray(count).dtype) > INTEGER:
            raise TypeError("the dtype is for others")
        ints = array.view(np.dtype(np.int64).newbyteorder(array.dtype.byteorder))
        np.copyto(ints, count, casting="unsafe")
        return _same(ints, count, operator.eq)
    np.copyto(array, source, casting="unsafe")
    whole = 2.0**62 * _unit(array)  # NumPy wraps what is beyond: 2**64 units off
    near = abs(_seconds(array) - _seconds(source)) < whole
    return bool(np.all((np.isnat(array) == np.isnat(source)) & (near | np.isnat(source))))


def _unit(times: Any) -> float:
    unit, count = np.datetime_data(times.dtype)
    return float(count * SECONDS[unit])


def _seconds(times: Any) -> Any:
    return times.astype(np.int64) * _unit(times)


def _clear_holes(array: Any) -> None:
    """Zero the bytes of x87's long doubles that mean nothing, into which NumPy writes whatever a register holds."""
    if array.dtype.type in (np.longdouble, np.clongdouble) and np.finfo(np.longdouble).nmant == 63:
        parts = array.reshape(-1).view(np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize)
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
    text = type(value) in (str, bytes)
    time = dtype.kind in "mM" and isinstance(value, TIMES)
    if kind is None and not text and not time:
        return None
    if text:
        fits = dtype.kind == ("U" if type(value) is str else "S")
    else:
        fits = time or (kind is not None and kind <= kind_of(dtype) < NO_NUMBER)
    array = np.zeros((), dtype)
    held = _held(array, value) if fits else None
    if held is None:
        raise TypeError(f"{shown(value)} does not go into an array of dtype {dtype}")
    if not held:
        raise (ValueError if text else OverflowError)(f"{shown(value)} does not fit into dtype {dtype}")
    return array
