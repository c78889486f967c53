"""Arrays in lists, tuples, dicts and their kin: the arguments and results of fused functions."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.refused_arrays import is_lazy, no_array, not_plain

__all__ = [
    "Described",
    "array_from",
    "is_array",
    "is_container",
    "is_dict",
    "is_recorded",
    "items_of",
    "leaves",
    "operand",
    "rebuilt",
]

_OF_PYTHON = (list, tuple, dict, collections.deque)


class Described:
    """Stands for an array among the arguments of which only this is known; there is no memory behind it."""

    __slots__ = ("dtype", "shape", "strides")

    def __init__(self, dtype: np.dtype[Any], shape: Sequence[int], strides: Sequence[int]) -> None:
        self.dtype, self.shape, self.strides = dtype, tuple(shape), tuple(strides)


def is_array(value: Any) -> bool:
    """Whether an argument is an array, and not a constant."""
    kind = type(value)
    if kind is np.ndarray or kind is Described or isinstance(value, (np.ndarray, DeviceArray)):
        return True
    if isinstance(value, np.generic):
        return False
    return hasattr(kind, "__array_interface__") or hasattr(kind, "__array__") or is_recorded(value) or is_lazy(value)


def array_from(value: Any) -> Any:
    """The array that an argument is, or None: a constant."""
    if type(value) is np.ndarray or isinstance(value, (DeviceArray, Described)) or is_recorded(value) or is_lazy(value):
        return value
    return np.asarray(value) if is_array(value) else None


def operand(name: str, value: Any) -> Any:
    """What is neither an array nor a list of arrays becomes one, as operators have it. Raises TypeError for Python objects."""
    if is_array(value) or (isinstance(value, list) and any(map(is_array, value))):
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, np.ndarray) and one.dtype.hasobject:
                raise not_plain(name, one)
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


# --- containers -----------------------------------------------------------------------------------------------------


def is_container(value: Any) -> bool:
    """Whether arrays in it are inputs, or results."""
    return isinstance(value, _OF_PYTHON) or _is_users(value)


def _is_users(value: Any) -> bool:
    """As isinstance, which takes long for abstract types."""
    kinds = type(value).__mro__
    return collections.UserDict in kinds or collections.UserList in kinds


def is_dict(value: Any) -> bool:
    return isinstance(value, dict) or collections.UserDict in type(value).__mro__


def items_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """What is in a container, each with its key or index."""
    if _is_users(value):
        value = value.data
    return dict.items(value) if isinstance(value, dict) else enumerate(value)


def leaves(value: Any) -> list[Any]:
    """What is in nested containers, in order."""
    found: list[Any] = []
    _add_leaves(value, found)
    return found


def _add_leaves(value: Any, found: list[Any]) -> None:
    kind = type(value)
    if kind is tuple or kind is list:
        for one in value:
            _add_leaves(one, found)
    elif is_container(value):
        for _, one in items_of(value):
            _add_leaves(one, found)
    else:
        found.append(value)


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same containers of changed leaves."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([rebuilt(one, change) for one in value])
    if kind is dict:
        return {key: rebuilt(one, change) for key, one in value.items()}
    return _of_same_type(value, change) if is_container(value) else change(value)


def _of_same_type(value: Any, change: Callable[[Any], Any]) -> Any:
    """Of a type that is derived, with attributes of its own; itself if nothing in it has changed."""
    old = list(items_of(value))
    new = [rebuilt(one, change) for _, one in old]
    if all(one is other for one, (_, other) in zip(new, old, strict=True)):
        return value
    if isinstance(value, tuple):
        made: Any = tuple.__new__(type(value), new)
        if hasattr(value, "__dict__"):
            made.__dict__.update(value.__dict__)
        return made
    made = copy.copy(value)
    into = made.data if _is_users(made) else made
    for one, (key, _) in zip(new, old, strict=True):
        into[key] = one
    return made
