"""Methods of DeviceArray that need no C: how it prints, its elements as scalars, and what NumPy's functions do with it."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.errors import VulkanError

__all__: list[str] = []  # the methods below are the type's; see the end of this file


# --- printing -----------------------------------------------------------------------------------------------------


def __repr__(self: DeviceArray) -> str:
    """Values as NumPy prints them, then shape, dtype and device. Waits for queued work, and downloads what is printed only."""
    prefix = "DeviceArray("
    try:
        values = _printed(self, prefix)
    except VulkanError as error:
        values = f"<{type(error).__name__}: {error}>"
    rest = f"shape={self.shape}, dtype={self.dtype}, device={self.device.name!r})"
    last_line = values.rpartition("\n")[2] if "\n" in values else prefix + values
    fits = len(last_line) + len(", ") + len(rest) <= np.get_printoptions()["linewidth"]
    return f"{prefix}{values}, {rest}" if fits else f"{prefix}{values},\n{' ' * len(prefix)}{rest}"


def _printed(array: DeviceArray, prefix: str) -> str:
    options = np.get_printoptions()
    if array.size <= options["threshold"]:
        return np.array2string(array.numpy(), separator=", ", prefix=prefix, suffix=",", threshold=array.size)
    # NumPy abbreviates an axis that is longer than twice `edge`. One element in the middle stands for those it leaves out.
    edge = max(1, int(options["edgeitems"]))
    corners = np.zeros([min(size, 2 * edge + 1) for size in array.shape], array.dtype)
    for source, target in _corners(array.shape, edge):
        array[source].numpy(corners[(*target, ...)])
    return np.array2string(corners, separator=", ", prefix=prefix, suffix=",", threshold=0)


def _corners(shape: tuple[int, ...], edge: int) -> Iterator[tuple[Any, Any]]:
    """The indices of each corner of an array, and where it goes in the array of all corners."""
    axes = []
    for size in shape:
        first = slice(0, edge)
        ends = [(first, first), (slice(size - edge, size), slice(edge + 1, 2 * edge + 1))]
        axes.append(ends if size > 2 * edge else [(slice(None), slice(None))])
    for ranges in itertools.product(*axes):
        yield tuple(pair[0] for pair in ranges), tuple(pair[1] for pair in ranges)


# --- Python's scalars: what NumPy's arrays do, errors included ---------------------------------------------------


def _stand_in(array: DeviceArray) -> Any:
    """A NumPy array of zeros that has the shape and dtype of a device array, and takes no memory."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _one(array: DeviceArray) -> Any:
    """The only element as a NumPy array. Of several or none: an array with which NumPy raises its own error for them."""
    return array.numpy() if array.size == 1 else _stand_in(array)


def __bool__(self: DeviceArray) -> bool:
    return bool(_one(self))


def __int__(self: DeviceArray) -> int:
    return int(_one(self))


def __float__(self: DeviceArray) -> float:
    return float(_one(self))


def __complex__(self: DeviceArray) -> complex:
    return complex(_one(self))


def __index__(self: DeviceArray) -> int:
    return operator.index(_one(self))


def item(self: DeviceArray, *args: Any) -> Any:
    """One element as a Python scalar: the only one, or the one at an index, flat or of each axis."""
    if not args:
        return _one(self).item()
    _stand_in(self).item(*args)  # raises what NumPy raises
    index = args[0] if isinstance(args[0], tuple) else args
    if len(index) != self.ndim:
        flat = operator.index(index[0])
        index = np.unravel_index(flat + self.size if flat < 0 else flat, self.shape)
    return self[tuple(map(operator.index, index))].numpy().item()


def tolist(self: DeviceArray) -> Any:
    """All elements as nested lists of Python scalars; of a 0-d array the scalar."""
    return self.numpy().tolist()


# --- views ----------------------------------------------------------------------------------------------------------


def ravel(self: DeviceArray) -> DeviceArray:
    """A view of one axis. Raises ValueError where a copy would be needed: ``a.copy().ravel()`` makes it."""
    return self.reshape(-1)


def squeeze(self: DeviceArray, axis: Any = None) -> DeviceArray:
    """A view without the axes of size 1; by default without all of them."""
    return _core._view(self, lambda like: like.squeeze(axis))


def swapaxes(self: DeviceArray, axis1: Any, axis2: Any) -> DeviceArray:
    """A view with two axes exchanged."""
    return _core._view(self, lambda like: like.swapaxes(axis1, axis2))


# --- NumPy's functions ------------------------------------------------------------------------------------------------


def __array_function__(self: DeviceArray, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Views, questions about shape and dtype, and comparisons for tests; NumPy's other functions would download unasked."""
    if not all(issubclass(one, (DeviceArray, np.ndarray)) for one in types):
        return NotImplemented
    way = _ways().get(func)
    if way is None:
        name = f"{func.__module__}.{func.__name__}"
        raise TypeError(f"{name} would download a dmlops.DeviceArray: call it with what .numpy() gives")
    return way(self, func, args, kwargs)


def _exchanged(exchange: Callable[[DeviceArray], Any], args: Any, kwargs: Any) -> Any:
    """The arguments with something else for each device array."""

    def other(argument: Any) -> Any:
        if isinstance(argument, DeviceArray):
            return exchange(argument)
        return [other(entry) for entry in argument] if isinstance(argument, (list, tuple)) else argument

    return [other(argument) for argument in args], {name: other(argument) for name, argument in kwargs.items()}


def _as_view(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> DeviceArray:
    def viewed(like: Any) -> Any:
        new_args, new_kwargs = _exchanged(lambda array: like if array is self else array, args, kwargs)
        return func(*new_args, **new_kwargs)

    return _core._view(self, viewed)


def _by_shape(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = _exchanged(_stand_in, args, kwargs)
    return func(*args, **kwargs)


def _downloaded(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = _exchanged(DeviceArray.numpy, args, kwargs)
    return func(*args, **kwargs)


def _by_method(self: DeviceArray, func: Any, args: Any, kwargs: Any) -> DeviceArray:
    """reshape and ravel: of those orders that make views, the one of C."""
    a, *rest = args or (kwargs.pop("a"),)
    if kwargs.pop("order", "C") != "C":
        raise TypeError(f"numpy.{func.__name__} of a dmlops.DeviceArray has order='C' only")
    shape = [kwargs.pop(name) for name in ("shape", "newshape") if name in kwargs]
    method: Callable[..., DeviceArray] = getattr(a, func.__name__)
    return method(*rest, *shape, **kwargs)


@functools.cache
def _ways() -> dict[Any, Any]:
    """What to do for each of NumPy's functions that takes device arrays; some do not exist in every version."""
    ways = {
        _as_view: "transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze expand_dims flip fliplr flipud "
        "rot90 diagonal",
        _by_method: "reshape ravel",
        _by_shape: "shape ndim size iscomplexobj isrealobj result_type can_cast",
        _downloaded: "array_equal array_equiv allclose",
    }
    return {getattr(np, name): way for way, names in ways.items() for name in names.split() if hasattr(np, name)}


for _method in (
    *(__repr__, __bool__, __int__, __float__, __complex__, __index__, item, tolist),
    *(ravel, squeeze, swapaxes, __array_function__),
):
    _method.__qualname__ = f"DeviceArray.{_method.__name__}"
    setattr(DeviceArray, _method.__name__, _method)
