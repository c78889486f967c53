"""Arrays in lists, tuples and dicts: the arguments and results of fused functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.refused_arrays import no_array, not_plain

__all__ = ["array_from", "is_lazy", "is_recorded", "leaves", "operand", "rebuilt", "with_keys"]


def array_from(value: Any) -> Any:
    """The array that an argument is, or None: a constant."""
    if type(value) is np.ndarray or isinstance(value, DeviceArray) or is_recorded(value) or is_lazy(value):
        return value
    if isinstance(value, np.generic):
        return None
    if isinstance(value, np.ndarray) or hasattr(type(value), "__array_interface__") or hasattr(type(value), "__array__"):
        return np.asarray(value)
    return None


def operand(name: str, value: Any) -> Any:
    """What is neither an array nor a list of arrays becomes one, as operators have it."""
    if array_from(value) is not None or (isinstance(value, list) and any(array_from(one) is not None for one in value)):
        return value
    if isinstance(value, str):
        raise not_plain(name, value)
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as cause:
        raise no_array(name, value, cause)


def is_recorded(value: Any) -> bool:
    """Whether operators do not run on it, but are recorded, or run by NumPy."""
    return hasattr(type(value), "__dmlops_function__")


def is_lazy(value: Any) -> bool:
    """Whether it is a Dask array, by Dask's protocol for collections."""
    return hasattr(type(value), "__dask_graph__")


def leaves(value: Any) -> list[Any]:
    """What is in nested lists, tuples and dicts, in order."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same lists, tuples and dicts of changed leaves."""
    if isinstance(value, dict):
        return {key: rebuilt(one, change) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(rebuilt(one, change) for one in value))
    if isinstance(value, (list, tuple)):
        return type(value)([rebuilt(one, change) for one in value])
    return change(value)


def with_keys(value: Any, arrays: list[Any]) -> Any:
    """What an argument means to a trace, as a key of the cache; appends the arrays that are in it."""
    array = array_from(value)
    if array is not None:
        arrays.append(array)
        if is_recorded(array) or is_lazy(array):
            return type(array)
        return array.dtype, array.shape, array.strides
    if isinstance(value, dict):
        return dict, tuple((key, with_keys(one, arrays)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return type(value), tuple(with_keys(one, arrays) for one in value)
    if isinstance(value, slice):
        return slice, value.start, value.stop, value.step
    if isinstance(value, (float, complex, np.generic)):  # 0.0 and -0.0 are equal, and differ
        return type(value), repr(value)
    return type(value), value
