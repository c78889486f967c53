"""NumPy's functions of device arrays that move elements: each is a fused function, compiled once for shapes and strides."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.fusion.fused import Fused
from dmlops.fusion.numpy_functions import handlers
from dmlops.fusion.traced import RefusedError
from dmlops.refused_arrays import not_plain
from dmlops.structure import leaves

__all__ = ["MixedArraysError", "call", "reshape"]


class MixedArraysError(TypeError):
    """Device arrays beside what is none; the type of that."""


def reshape(x: DeviceArray, shape: Any) -> DeviceArray:
    """A view of another shape where there is one, else a copy in one pass."""
    try:
        return x.reshape(shape)
    except ValueError:
        return call(np.reshape, (x, shape), {})  # type: ignore[no-any-return]


def call(function: Any, args: Any, kwargs: Any) -> Any:
    """Run a function on the device of its arrays. RefusedError if it does not only move elements."""
    if function is np.append:  # what it joins is an array of any size, and no constant
        function, args, kwargs = np.concatenate, *_joined(*args, **kwargs)
    fused = _fused(function)
    if fused is None:
        name = f"{function.__module__}.{function.__name__}"
        raise RefusedError(name, f"{name} computes")
    change = _arrays if function is np.block else _constants
    return fused(*map(change, args), **{name: one if name == "out" else change(one) for name, one in kwargs.items()})


class _Moving(Fused):
    """A function of device arrays. What the host alone computes, such as a cast to float64, would download them."""

    def _find(self, args: Any, kwargs: Any) -> Any:
        compiled, arrays, row = super()._find(args, kwargs)
        if compiled is not None and compiled.program.is_of_the_host:
            raise RefusedError(f"numpy.{self.__name__}", f"numpy.{self.__name__} computes items of 4 or 8 bytes")
        return compiled, arrays, row


@functools.cache
def _fused(function: Any) -> Fused | None:
    if function not in handlers() or function is np.take_along_axis:  # it computes
        return None

    @functools.wraps(function, assigned=("__name__", "__doc__", "__module__"), updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    del run.__wrapped__  # its signature is that of `run`
    return _Moving(run)


def _joined(arr: Any, values: Any, axis: Any = None) -> tuple[Any, dict[str, Any]]:
    """The arguments of numpy.append as those of numpy.concatenate."""
    return ([arr, values],), {"axis": axis}


def _arrays(value: Any) -> Any:
    """An argument of device arrays in nested lists."""
    for one in leaves(value):
        if not isinstance(one, DeviceArray):
            raise MixedArraysError(type(one).__name__)
    return value


def _constants(value: Any) -> Any:
    """An argument without NumPy's arrays: what they hold are indices, widths and fill values."""
    if isinstance(value, (list, tuple)):
        if any(isinstance(one, DeviceArray) for one in value):
            mixed = [one for one in value if not isinstance(one, DeviceArray)]
            if mixed:
                raise MixedArraysError(type(mixed[0]).__name__)
            return value
        return type(value)(map(_constants, value))
    return _as_lists(value) if isinstance(value, np.ndarray) else value


def _as_lists(array: Any) -> Any:
    """Nested lists of an array's elements: of NumPy's scalars where Python's would lose bits or units."""
    if array.dtype.kind in "biuSU":
        return array.tolist()
    if array.ndim and array.dtype.hasobject:  # lists of them may be what the array is not, such as widths of numpy.pad
        raise not_plain("an argument", array)
    return [_as_lists(one) for one in array] if array.ndim else array[()]
