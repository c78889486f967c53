"""The array API standard's functions that move elements, make arrays, and tell about dtypes and devices.

``a.__array_namespace__()`` of a device array returns this module. Its functions are those of the standard's version 2025.12, by
name and arguments. They return views where there is one, and take one pass over the elements elsewhere. What computes is not
here: ``sum``, ``add`` and the like are missing, and ``concat`` of different dtypes and ``astype`` raise TypeError.

    >>> import numpy as np, dmlops
    >>> a = dmlops.asarray(np.arange(6).reshape(2, 3))
    >>> xp = a.__array_namespace__()
    >>> xp.concat([a, xp.flip(a, axis=1)], axis=1).tolist()
    [[0, 1, 2, 2, 1, 0], [3, 4, 5, 5, 4, 3]]
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from dmlops import device_list as _device_list
from dmlops import operators as _operators
from dmlops._core import DeviceArray
from dmlops.arrays import asarray, from_dlpack
from dmlops.arrays import empty as _empty
from dmlops.device import Device as _Device
from dmlops.indices import moved as _moved
from dmlops.late_imports import late

__array_api_version__ = "2025.12"

e, inf, nan, pi, newaxis = np.e, np.inf, np.nan, np.pi, None

bool = np.dtype("bool")
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float32, float64, complex64, complex128 = map(np.dtype, ("float32", "float64", "complex64", "complex128"))

__all__ = [
    "arange",
    "asarray",
    "astype",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "complex64",
    "complex128",
    "concat",
    "e",
    "empty",
    "empty_like",
    "expand_dims",
    "eye",
    "finfo",
    "flip",
    "float32",
    "float64",
    "from_dlpack",
    "full",
    "full_like",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "linspace",
    "matrix_transpose",
    "meshgrid",
    "moveaxis",
    "nan",
    "newaxis",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unstack",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> NoReturn:
    if not name.startswith("_") and hasattr(np, name):
        raise AttributeError(
            f"dmlops.array_api has no {name}: it moves elements only; call numpy.{name} with what .numpy() gives"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- manipulation -----------------------------------------------------------------------------------------------------


def broadcast_arrays(*arrays: DeviceArray) -> tuple[DeviceArray, ...]:
    """Arrays of one shape; those that have it already are returned themselves."""
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    return tuple(one if one.shape == shape else broadcast_to(one, shape) for one in arrays)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes are broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: DeviceArray, /, shape: Sequence[int]) -> DeviceArray:
    """A new array of another shape, along whose new or longer axes the elements repeat."""
    return _moved(np.broadcast_to, x, tuple(shape))


def concat(arrays: Sequence[DeviceArray], /, *, axis: int | None = 0) -> DeviceArray:
    """Arrays of one dtype one behind another along an axis; None: of one axis each, all elements in order."""
    return _moved(np.concatenate, list(arrays), axis=axis)


def expand_dims(x: DeviceArray, /, axis: int | tuple[int, ...]) -> DeviceArray:
    """A view with new axes of size 1 at these places."""
    return _moved(np.expand_dims, x, axis)


def flip(x: DeviceArray, /, *, axis: int | tuple[int, ...] | None = None) -> DeviceArray:
    """A view with the elements along axes in reverse order; by default along all."""
    return _moved(np.flip, x, axis)


def matrix_transpose(x: DeviceArray, /) -> DeviceArray:
    """A view with the last two axes exchanged."""
    return x.mT


def moveaxis(x: DeviceArray, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> DeviceArray:
    """A view with axes at other places, and the others in their order."""
    return _moved(np.moveaxis, x, source, destination)


def permute_dims(x: DeviceArray, /, axes: tuple[int, ...]) -> DeviceArray:
    """A view with the axes in another order."""
    return x.transpose(axes)


def repeat(x: DeviceArray, repeats: int | DeviceArray, /, *, axis: int | None = None) -> DeviceArray:
    """Each element several times, along an axis, or all elements in order. `repeats` is one number."""
    return _moved(np.repeat, x, repeats, axis)


def reshape(x: DeviceArray, /, shape: Sequence[int], *, copy: builtins.bool | None = None) -> DeviceArray:
    """The elements in the same order, in another shape: a view where there is one and `copy` is not True."""
    with late():
        from dmlops.fusion import on_devices

    if copy:
        return _moved(on_devices.call, np.reshape, (x, tuple(shape)), {})
    return on_devices.reshape(x, tuple(shape)) if copy is None else x.reshape(tuple(shape))


def roll(x: DeviceArray, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> DeviceArray:
    """The elements further along axes; those that leave at the end come in at the beginning."""
    return _moved(np.roll, x, shift, axis)


def squeeze(x: DeviceArray, /, axis: int | tuple[int, ...]) -> DeviceArray:
    """A view without axes of size 1."""
    return x.squeeze(axis)


def stack(arrays: Sequence[DeviceArray], /, *, axis: int = 0) -> DeviceArray:
    """Arrays of one shape and dtype along a new axis."""
    return _moved(np.stack, list(arrays), axis)


def take(x: DeviceArray, indices: DeviceArray, /, *, axis: int | None = None) -> DeviceArray:
    """What an axis has at indices of one axis; `axis` may be left out where there is one."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis must be given for an array of {x.ndim} axes")
    if indices.ndim != 1:
        raise ValueError(f"indices must have one axis, not {indices.ndim}")
    return _operators.take(x, indices, 0 if axis is None else axis)


def take_along_axis(x: DeviceArray, indices: DeviceArray, /, *, axis: int = -1) -> DeviceArray:
    """Elements along an axis, with an index for each position."""
    return _operators.take_along_axis(x, indices, axis)


def tile(x: DeviceArray, repetitions: tuple[int, ...], /) -> DeviceArray:
    """The whole array several times along each axis."""
    return _moved(np.tile, x, repetitions)


def unstack(x: DeviceArray, /, *, axis: int = 0) -> tuple[DeviceArray, ...]:
    """A view for each index of an axis."""
    return tuple(moveaxis(x, axis, 0))


# --- creation ---------------------------------------------------------------------------------------------------------


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> DeviceArray:
    """Evenly spaced numbers, made on the host and copied."""
    bounds: Any = (0, start, step) if stop is None else (start, stop, step)
    return asarray(np.arange(*bounds, dtype=dtype), device=device)


def empty(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array whose elements are not initialised."""
    return _empty(shape, float64 if dtype is None else dtype, device=device)


def empty_like(x: DeviceArray, /, *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of the shape, dtype and device of another, whose elements are not initialised."""
    return _empty(x.shape, x.dtype if dtype is None else dtype, device=x.device if device is None else device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> DeviceArray:
    """Ones on a diagonal, made on the host and copied."""
    return asarray(np.eye(n_rows, n_cols, k, float64 if dtype is None else dtype), device=device)


def full(shape: int | tuple[int, ...], fill_value: complex, *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of one value."""
    value = np.asarray(fill_value, dtype)
    return _filled(_empty(shape, value.dtype, device=device), value)


def full_like(x: DeviceArray, /, fill_value: complex, *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of one value, of the shape, dtype and device of another."""
    made = empty_like(x, dtype=dtype, device=device)
    return _filled(made, np.asarray(fill_value, made.dtype))


def _filled(array: DeviceArray, value: Any) -> DeviceArray:
    array[...] = value[()]
    return array


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: builtins.bool = True
) -> DeviceArray:
    """Numbers at equal distances, made on the host and copied."""
    return asarray(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), device=device)


def meshgrid(*arrays: DeviceArray, indexing: str = "xy") -> tuple[DeviceArray, ...]:
    """Coordinates of a grid: each array along an axis of its own."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    lines = [one.reshape([-1 if axis == own else 1 for axis in range(len(arrays))]) for one, own in zip(arrays, order)]
    return broadcast_arrays(*lines)


def ones(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of ones."""
    return full(shape, 1, dtype=float64 if dtype is None else dtype, device=device)


def ones_like(x: DeviceArray, /, *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of ones, of the shape, dtype and device of another."""
    return full_like(x, 1, dtype=dtype, device=device)


def zeros(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of zeros."""
    return full(shape, 0, dtype=float64 if dtype is None else dtype, device=device)


def zeros_like(x: DeviceArray, /, *, dtype: Any = None, device: Any = None) -> DeviceArray:
    """An array of zeros, of the shape, dtype and device of another."""
    return full_like(x, 0, dtype=dtype, device=device)


# --- dtypes -----------------------------------------------------------------------------------------------------------

_SCALARS = (builtins.bool, int, float, complex)
_KINDS: dict[str, tuple[np.dtype[Any], ...]] = {
    "bool": (bool,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


@dataclass(frozen=True)
class _FloatInfo:
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _IntInfo:
    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def _dtype(value: Any) -> np.dtype[Any]:
    if isinstance(value, DeviceArray):
        return value.dtype
    if isinstance(value, (*_SCALARS, str)):
        raise TypeError(f"a dtype or a device array is needed, not {value!r}")
    dtype: np.dtype[Any] = np.dtype(value)
    return dtype


def astype(x: DeviceArray, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> DeviceArray:
    """A copy, or the array itself. TypeError for another dtype: that computes."""
    return asarray(x.astype(dtype, copy=False), device=device, copy=True if copy else None)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether the standard's promotion of two dtypes gives the second."""
    try:
        return builtins.bool(_promoted(_dtype(from_), _dtype(to)) == _dtype(to))
    except TypeError:
        return False


def finfo(type: Any, /) -> _FloatInfo:
    """The limits of a floating dtype, or of an array's."""
    of = np.finfo(_dtype(type))
    return _FloatInfo(of.bits, float(of.eps), float(of.max), float(of.min), float(of.smallest_normal), np.dtype(of.dtype))


def iinfo(type: Any, /) -> _IntInfo:
    """The limits of an integer dtype, or of an array's."""
    of = np.iinfo(_dtype(type))
    return _IntInfo(of.bits, int(of.max), int(of.min), np.dtype(of.dtype))


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is another, or of a kind, such as ``"integral"``, or of one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}, or a dtype, not {kind!r}")
        return np.dtype(dtype) in _KINDS[kind]
    return builtins.bool(_dtype(dtype) == _dtype(kind))


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype that the standard promotes dtypes to. TypeError where it says nothing of them."""
    scalars = [one for one in arrays_and_dtypes if isinstance(one, _SCALARS)]
    dtypes = [_dtype(one) for one in arrays_and_dtypes if not isinstance(one, _SCALARS)]
    if not dtypes:
        raise ValueError("result_type needs at least one array or dtype")
    return functools.reduce(_with_scalar, scalars, functools.reduce(_promoted, dtypes))


def _promoted(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    if one == other:
        return one
    made = np.result_type(one, other)
    for group in ("integral", "real floating", "complex floating"):
        if made in _KINDS[group] and {one.kind, other.kind} <= set("iu" if group == "integral" else "fc"):
            return made
    raise TypeError(f"the array API standard promotes {one} and {other} to nothing")


def _with_scalar(dtype: np.dtype[Any], scalar: complex) -> np.dtype[Any]:
    kinds = {builtins.bool: "b", int: "iufc", float: "fc", complex: "fc"}[type(scalar)]
    if dtype.kind not in kinds:
        raise TypeError(f"the array API standard promotes {dtype} and a Python {type(scalar).__name__} to nothing")
    return np.result_type(dtype, complex64) if isinstance(scalar, complex) else dtype


# --- inspection -------------------------------------------------------------------------------------------------------


class __array_namespace_info__:  # noqa: N801  (the standard's name)
    """What the namespace can do, its devices and its dtypes."""

    def capabilities(self) -> dict[str, Any]:
        """No mask indexes an array, and no shape depends on values."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> _Device:
        """The device of arrays that are made without naming one."""
        return _device_list.default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of arrays that are made without naming one."""
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": np.dtype(int),
            "indexing": np.dtype(np.intp),
        }

    def devices(self) -> tuple[_Device, ...]:
        """All devices."""
        return tuple(_device_list.devices())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, np.dtype[Any]]:
        """The standard's dtypes by name, or those of a kind."""
        wanted = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        if not set(wanted) <= set(_KINDS):
            raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}, not {kind!r}")
        return {one.name: one for name in wanted for one in _KINDS[name]}
