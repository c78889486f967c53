"""Methods of DeviceArray that need little C: how it prints, its elements as scalars, views, copies."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NoReturn

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


def stand_in(array: DeviceArray) -> Any:
    """A NumPy array of zeros that has the shape and dtype of a device array, and takes no memory."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _one(array: DeviceArray) -> Any:
    """The only element as a NumPy array. Of several or none: an array with which NumPy raises its own error for them."""
    return array.numpy() if array.size == 1 else stand_in(array)


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
    stand_in(self).item(*args)  # raises what NumPy raises
    index = args[0] if isinstance(args[0], tuple) else args
    if len(index) != self.ndim:
        flat = operator.index(index[0])
        index = np.unravel_index(flat + self.size if flat < 0 else flat, self.shape)
    return self[tuple(map(operator.index, index))].numpy().item()


def tolist(self: DeviceArray) -> Any:
    """All elements as nested lists of Python scalars; of a 0-d array the scalar."""
    return self.numpy().tolist()


def tobytes(self: DeviceArray, order: Any = "C") -> bytes:
    """The bytes of all elements, in C order, or in another."""
    name = _order_of(self, order)
    return (transpose(self) if name == "F" else self).numpy().tobytes()  # NumPy writes "K" in C order


def __bytes__(self: DeviceArray) -> bytes:
    return tobytes(self)


def __format__(self: DeviceArray, spec: str) -> str:
    return format(self.item(), spec) if spec and self.ndim == 0 else object.__format__(self, spec)


# --- views ----------------------------------------------------------------------------------------------------------


_ORDERS: dict[str, Literal["C", "F", "K"]] = {"C": "C", "F": "F", "K": "K"}


def _order_of(array: Any, order: Any) -> Literal["C", "F", "K"]:
    """An order as "C", "F" or "K". Raises what NumPy raises."""
    name = "C" if order is None else order.decode("latin-1") if isinstance(order, bytes) else order
    if not isinstance(name, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if name not in tuple("CFAKcfak"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if name in "Aa":
        return "F" if _in_f_order(array) else "C"
    return _ORDERS[name.upper()]


def _axes_in(array: Any, order: Any) -> tuple[int, ...]:
    """The axes, so that an order is C order of these."""
    axes, name = tuple(range(array.ndim)), _order_of(array, order)
    if name == "K":  # as they lie in memory
        return tuple(sorted(axes, key=lambda axis: -abs(array.strides[axis])))
    return axes[::-1] if name == "F" else axes


def _in_f_order(array: Any) -> bool:
    """Whether the memory is contiguous in Fortran's order, and not in C's, too."""
    axes = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
    steps = [array.itemsize * math.prod(array.shape[:axis]) for axis in axes]
    return len(axes) > 1 and array.size > 0 and [array.strides[axis] for axis in axes] == steps


def reshape(self: DeviceArray, *shape: Any, order: Any = "C", copy: Any = None) -> DeviceArray:
    """A view of another shape, with the elements in the same order; one size may be -1.

    Raises ValueError where a copy would be needed: ``a.copy().reshape(...)`` and ``a.reshape(..., copy=True)`` make it.
    """
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    name = _order_of(self, order)
    if name == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    sizes = new_shape(self, *shape)
    if copy:
        return self.copy(name).reshape(sizes, order=name)
    if name == "F":
        return transpose(reshape(transpose(self), sizes[::-1]))
    try:
        return _core._view(self, lambda like: reshaped(like, sizes))
    except ValueError:
        raise ValueError("this view cannot be reshaped so without a copy; .copy() makes one") from None


def new_shape(array: Any, *shape: Any) -> tuple[int, ...]:
    """The shape that arguments of reshape mean for an array of either kind. ValueError if it has other elements."""
    wanted = _core._shape(shape[0] if len(shape) == 1 else shape)
    sizes = wanted
    if wanted.count(-1) == 1 and (known := -math.prod(wanted)) > 0:
        sizes = tuple(array.size // known if size == -1 else size for size in wanted)
    if min(sizes, default=0) < 0 or math.prod(sizes) != array.size:
        raise ValueError(f"an array of shape {array.shape} cannot be reshaped to {wanted}")
    if 0 in sizes and array.itemsize * math.prod(size for size in sizes if size) >= 2**63:
        raise ValueError("shape is too large: the array would have more than 2**63 bytes")
    return sizes


def reshaped(like: Any, shape: tuple[int, ...]) -> Any:
    """A view of another shape of an array that nobody can read. ValueError if there is none."""
    if _RESHAPE_NEVER_COPIES:
        return like.reshape(shape, copy=False)
    return np.lib.stride_tricks.as_strided(like, shape, _strides(like, shape))


# If asked so. Before, it copies what it cannot make a view of, element by element.
_RESHAPE_NEVER_COPIES = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def _strides(like: Any, shape: tuple[int, ...]) -> Sequence[int]:
    """The strides of a view of another shape, all 0 of an empty one. Raises ValueError where there is none."""
    if shape == like.shape:
        return tuple(like.strides)
    if like.size == 0:
        return [0] * len(shape)
    runs = [[1, 0]]  # the size and stride of axes that continue each other
    for size, stride in zip(like.shape, like.strides):
        if runs[-1][1] == size * stride:
            runs[-1] = [runs[-1][0] * size, stride]
        elif size > 1:
            runs.append([size, stride])
    strides = []
    for size in reversed(shape):
        while size > 1 and runs[-1][0] == 1 and len(runs) > 1:
            runs.pop()
        left, stride = runs[-1]
        if left % size != 0:
            raise ValueError("a copy would be needed")
        strides.append(stride)
        runs[-1] = [left // size, stride * size]
    return strides[::-1]


def transpose(self: DeviceArray, *axes: Any) -> DeviceArray:
    """A view with the axes in another order; by default the reverse."""
    return _core._view(self, lambda like: like.transpose(*axes))


def _t(self: DeviceArray) -> DeviceArray:
    """A view with the axes in reverse order."""
    return transpose(self)


def _mt(self: DeviceArray) -> DeviceArray:
    """A view with the last two axes exchanged."""
    return swapaxes(self, -1, -2)


def ravel(self: DeviceArray, order: Any = "C") -> DeviceArray:
    """A view of one axis. Raises ValueError where a copy would be needed: ``a.flatten()`` makes it."""
    return reshape(transpose(self, _axes_in(self, order)), -1)


def squeeze(self: DeviceArray, axis: Any = None) -> DeviceArray:
    """A view without the axes of size 1; by default without all of them."""
    return _core._view(self, lambda like: like.squeeze(axis))


def swapaxes(self: DeviceArray, axis1: Any, axis2: Any) -> DeviceArray:
    """A view with two axes exchanged."""
    return _core._view(self, lambda like: like.swapaxes(axis1, axis2))


def diagonal(self: DeviceArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> DeviceArray:
    """A view of a diagonal of two axes, along the last axis of the result."""
    return np.diagonal(self, offset, axis1, axis2)  # type: ignore[call-overload, no-any-return]


# --- copies ---------------------------------------------------------------------------------------------------------


def copy(self: DeviceArray, order: Any = "C") -> DeviceArray:
    """A copy on the same device, in C order, or in another."""
    axes = _axes_in(self, order)
    made = _core._asarray(transpose(self, axes), None, None, True)
    return transpose(made, tuple(axes.index(axis) for axis in range(len(axes))))


def __copy__(self: DeviceArray) -> DeviceArray:
    return self.copy()


def __deepcopy__(self: DeviceArray, memo: dict[int, object]) -> DeviceArray:
    return self.copy()


def flatten(self: DeviceArray, order: Any = "C") -> DeviceArray:
    """A copy of one axis, in C order; "F" counts the first axis fastest, "K" is the order of memory."""
    return transpose(self, _axes_in(self, order)).copy().reshape(-1)


def astype(
    self: DeviceArray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> DeviceArray:
    """A copy in C order, or with ``copy=False`` the array itself. TypeError for another dtype: that computes."""
    if self.dtype != np.dtype(dtype):
        raise TypeError(
            f"astype from {self.dtype} to {np.dtype(dtype)} computes: call it with what .numpy() gives, or in dmlops.fuse"
        )
    return self.copy() if copy else self


def repeat(self: DeviceArray, repeats: Any, axis: int | None = None) -> DeviceArray:
    """A copy in which each element stands `repeats` times; by default of one axis. See ``numpy.repeat``."""
    return np.repeat(self, repeats, axis)  # type: ignore[call-overload, no-any-return]


def take(self: DeviceArray, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> DeviceArray:
    """The elements at some indices of an axis; by default of all elements in C order. See ``numpy.take``."""
    return np.take(self, indices, axis, out, mode)  # type: ignore[call-overload, no-any-return]


def fill(self: DeviceArray, value: Any) -> None:
    """Set all elements to a scalar, as ``a[...] = value`` does."""
    self[...] = value


# --- what there is not ------------------------------------------------------------------------------------------------


def __reduce_ex__(self: DeviceArray, protocol: Any) -> Any:
    raise TypeError("a dmlops.DeviceArray cannot be pickled; pickle what .numpy() gives")


def _missing(self: DeviceArray, name: str) -> NoReturn:
    from dmlops.other_names import advice_beside

    text = f"a dmlops.DeviceArray has no attribute {name!r}{'' if name.startswith('_') else advice_beside(name)}"
    raise AttributeError(text, name=name, obj=self)


# --- the type's ---------------------------------------------------------------------------------------------------------


def add_methods(*methods: Any) -> None:
    """Make functions methods of DeviceArray, under their own names."""
    for method in methods:
        method.__qualname__ = f"DeviceArray.{method.__name__}"
        setattr(DeviceArray, method.__name__, method)


add_methods(__repr__, __bool__, __int__, __float__, __complex__, __index__, __bytes__, __format__, item, tolist, tobytes)
add_methods(reshape, transpose, ravel, squeeze, swapaxes, diagonal)
add_methods(copy, __copy__, __deepcopy__, flatten, astype, repeat, take, fill, __reduce_ex__)
setattr(DeviceArray, "__getattr__", _missing)
setattr(DeviceArray, "T", property(_t))
setattr(DeviceArray, "mT", property(_mt))
