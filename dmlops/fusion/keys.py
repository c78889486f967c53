"""Keys of programs: what a trace depends on, made of nothing but Python's own types and dtypes.

To look up a key runs no code of others, so no lock is needed, and nothing that is merely equal is taken for the same. Numbers
are in a key by their bytes; containers, dataclasses and buffers by what is in them; everything else by identity.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import pathlib
import struct
import types
import uuid
from collections.abc import Iterable
from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.fusion.traced import refuse
from dmlops.refused_arrays import is_lazy
from dmlops.structure import Described, array_from, is_container, is_recorded, items_of

__all__ = ["IteratorError", "attributes_of", "bytes_of", "key_of", "key_of_constant"]

_LONG = 1024  # bytes; of more than that a digest is kept

# By type and value: equal ones are the same. Ids of types, since a metaclass may have a hash of its own.
_ATOMS = frozenset(map(id, (int, bool, str, bytes, type(None), type(...), type(NotImplemented))))
_REDUCED = frozenset(
    map(
        id,
        (
            *(range, slice, decimal.Decimal, fractions.Fraction, uuid.UUID),
            *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
            *(pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath),
        ),
    )
)
_NUMBERS = frozenset((id(float), id(complex)))
_VIEWS_OF_DICTS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_SIMPLE = frozenset(id(np.dtype(code)) for code in "?bBhHiIlLqQefdgFDG")  # NumPy has one of each


def key_of(value: Any, arrays: list[Any], others: list[Any], kept: list[Any]) -> Any:
    """What an argument means to a trace.

    Appends the arrays in it to `arrays`, those that are traced, or Dask's, to `others`, too, and what a program must keep alive
    to `kept`: no other object gets the identity of that.
    """
    kind = type(value)
    if kind is np.ndarray:
        arrays.append(value)
        dtype = value.dtype
        return value.shape, value.strides, dtype if id(dtype) in _SIMPLE else _key_of_dtype(dtype, kept)
    if id(kind) in _ATOMS:
        return kind, value
    if kind is list or kind is tuple:
        return kind, tuple([key_of(one, arrays, others, kept) for one in value])
    if kind is dict:
        return kind, _items_of(value.items(), arrays, others, kept)
    if id(kind) in _NUMBERS or id(kind) in _REDUCED:
        return key_of_constant(value, others, kept)
    if kind is DeviceArray or not is_container(value):
        made = array_from(value)
        if made is not None:
            return _key_of_array(value, made, arrays, others, kept)
        return key_of_constant(value, others, kept)
    items = _items_of(items_of(value), arrays, others, kept)
    kept.append(kind)
    return id(kind), items, key_of_constant(attributes_of(value), others, kept)


def _items_of(items: Iterable[Any], arrays: list[Any], others: list[Any], kept: list[Any]) -> Any:
    return tuple([(key_of_constant(key, others, kept), key_of(one, arrays, others, kept)) for key, one in items])


def _key_of_array(value: Any, made: Any, arrays: list[Any], others: list[Any], kept: list[Any]) -> Any:
    if isinstance(value, np.ndarray) and _is_more_than_an_array(value):
        refuse(f"an argument of type {type(value).__name__}", "pass a plain NumPy array")
    arrays.append(made)
    if type(made) is not Described and (is_recorded(made) or is_lazy(made)):
        others.append(made)
        return ()
    return made.shape, made.strides, _key_of_dtype(made.dtype, kept)


def _is_more_than_an_array(value: Any) -> bool:
    """Whether an array of a derived type does something else than NumPy's where it is indexed or calculated with."""
    kind = type(value)
    if isinstance(value, (np.memmap, np.recarray)):
        return False
    own = any(getattr(kind, name, None) is not getattr(np.ndarray, name, None) for name in _CALCULATING)
    return own or value.__array_priority__ > 0


_CALCULATING = [
    name
    for name in dir(np.ndarray)
    if getattr(np.ndarray, name, None) is vars(np.ndarray).get(name, object)
    and name.strip("_") not in ("init", "repr", "str", "format", "reduce", "reduce_ex", "setstate", "copy", "deepcopy")
    and (not name.startswith("__array_") or name in ("__array_ufunc__", "__array_function__"))
]


def _key_of_dtype(dtype: Any, kept: list[Any]) -> Any:
    """Equal dtypes may differ in their metadata and in their alignment."""
    if id(dtype) in _SIMPLE or (dtype.kind != "V" and dtype.metadata is None):
        return dtype
    fields = [_key_of_dtype(dtype[name], kept) for name in dtype.names or ()]
    return dtype, dtype.isalignedstruct, tuple(fields), key_of_constant(dict(dtype.metadata or {}), [], kept)


class IteratorError(TypeError):
    """An argument that can be read once."""

    def __init__(self, iterator: Any) -> None:
        super().__init__(f"an iterator of type {type(iterator).__name__} can be read once")
        self.iterator = iterator


# --- constants ------------------------------------------------------------------------------------------------------


def key_of_constant(value: Any, others: list[Any], kept: list[Any], within: tuple[int, ...] = ()) -> Any:
    """Of what is no input; `within` are the ids of what it is in."""
    kind = type(value)
    if id(kind) in _ATOMS:
        return kind, value
    if kind is float:
        return kind, struct.pack("d", value)
    if kind is complex:
        return kind, struct.pack("dd", value.real, value.imag)
    if id(kind) in _REDUCED:
        return kind, tuple([key_of_constant(one, others, kept, within) for one in _parts(value, kept) or ()])
    if isinstance(value, np.dtype):
        return np.dtype, _key_of_dtype(value, kept)
    if isinstance(value, np.generic) and kind is value.dtype.type and not value.dtype.hasobject:
        return kind, _key_of_dtype(value.dtype, kept), bytes_of(np.asarray(value))
    if is_recorded(value) or is_lazy(value):
        others.append(value)
        return ()
    if id(value) in within:
        return "within", within.index(id(value))
    parts = _parts(value, kept)
    if parts is None:
        kept.append(value)
        return (id(value),)
    kept.append(kind)
    return id(kind), tuple([key_of_constant(one, others, kept, (*within, id(value))) for one in parts])


def _parts(value: Any, kept: list[Any]) -> Iterable[Any] | None:
    """What makes a constant what it is; None: nothing but itself does."""
    kind = type(value)
    if kind is slice or kind is range:
        return value.start, value.stop, value.step
    if id(kind) in _REDUCED:
        return [one for one in value.__reduce_ex__(4) if one is not None]
    if isinstance(value, (type, types.FunctionType, types.ModuleType, enum.Enum)):
        return None
    if is_container(value):
        return [*_own(value), *(part for item in items_of(value) for part in item)]
    if isinstance(value, (set, frozenset)):  # in their order, which a function may see
        return [*_own(value), *value]
    if isinstance(value, types.MappingProxyType):
        return [part for item in value.items() for part in item]
    if isinstance(value, _VIEWS_OF_DICTS):
        return list(value)
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype.hasobject else bytes_of(np.asarray(value))
        return [value.shape, value.strides, value.dtype, content, attributes_of(value)]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords, attributes_of(value)]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, types.BuiltinMethodType) and not isinstance(value.__self__, (types.ModuleType, type(None))):
        return [value.__name__, value.__self__]
    if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__attrs_attrs__") or isinstance(value, types.SimpleNamespace):
        if not _is_more_than_attributes(kind):
            return [attributes_of(value)]
    if hasattr(kind, "__next__") and kind.__module__ in ("builtins", "itertools"):
        raise IteratorError(value)
    return _parts_of_buffer(value, kept)


def _is_more_than_attributes(kind: type) -> bool:
    """Whether it derives from a type in C that makes its objects itself: it is also a number, text, a date or a buffer."""
    makers = (vars(one).get("__new__") for one in kind.__mro__ if one not in (object, types.SimpleNamespace))
    return any(isinstance(one, types.BuiltinFunctionType) for one in makers)


def _parts_of_buffer(value: Any, kept: list[Any]) -> Iterable[Any] | None:
    """Of what has bytes, such as array.array. An object of a type that is not Python's own may have more than bytes."""
    try:
        view = memoryview(value)
    except (TypeError, BufferError):
        return None
    parts = [view.format, view.shape, bytes_of(np.frombuffer(view.tobytes(), np.uint8))]
    if isinstance(value, (bytearray, array.array, memoryview)):
        return parts
    kept.append(value)
    return [*parts, id(value)]


def _own(value: Any) -> list[dict[str, Any]]:
    """The attributes of a container, if its type may have some."""
    return [] if type(value) in (list, tuple, dict, set, frozenset) else [attributes_of(value)]


def attributes_of(value: Any) -> dict[str, Any]:
    """Those of the instance alone, and what containers of Python's own remember."""
    found = dict(getattr(value, "__dict__", ()))
    if isinstance(value, (collections.UserDict, collections.UserList)):
        found.pop("data", None)
    for kind in type(value).__mro__:
        names = vars(kind).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            own = f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") else name
            if hasattr(value, own):
                found[own] = getattr(value, own)
    if isinstance(value, collections.deque):
        found["maxlen"] = value.maxlen
    if isinstance(value, collections.defaultdict):
        found["default_factory"] = value.default_factory
    return found


def bytes_of(values: Any) -> bytes:
    """The bytes of an array that mean something, or a digest of many."""
    if values.dtype.char in "gG" and np.finfo(np.longdouble).nmant == 63:  # 10 bytes of each 16 or 12
        values = np.ascontiguousarray(values).reshape(-1).view(np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize)[:, :10]
    content: bytes = values.tobytes()
    return content if len(content) <= _LONG else hashlib.blake2b(content).digest()
