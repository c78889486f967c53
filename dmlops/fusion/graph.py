"""Arrays of a trace: each is an input, a constant, or what a movement makes of others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from dmlops.fusion import layout
from dmlops.fusion.layout import Along, Piece, Taken, Windows

__all__ = [
    "Arrays",
    "Constant",
    "Input",
    "Join",
    "Node",
    "Parameter",
    "Reshape",
    "Take",
    "View",
    "Windowed",
    "as_view",
    "described",
    "in_brackets",
    "is_view",
    "pack",
    "stand_in",
    "strided",
]


Arrays: TypeAlias = Sequence[tuple[np.dtype[Any], Sequence[int], Sequence[int]]]  # the dtype, shape and strides of each


def described(arrays: Sequence[Any]) -> Arrays:
    """What a program is compiled for: the extension takes it as arrays without memory."""
    return [(one.dtype, one.shape, one.strides) for one in arrays]


class Node:
    """An array that has a shape and a dtype, and no values.

    `where` is the line of the user's function that has made it.
    """

    operands: tuple[Node, ...] = ()
    items: frozenset[int] | None = None  # as `maps.items_of` has found them
    where: object = ""
    is_scalar = False  # where NumPy has a scalar, and no array of no dimension

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def fewest(self) -> int:
        """Pieces that it has if its operands have one each."""
        return len(self.operands)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def pieces(self, operands: Sequence[list[Piece]]) -> Iterator[Piece]:
        """The array's pieces, made of those of its operands. Not called for an empty array."""
        raise NotImplementedError


class Input(Node):
    """An argument of the function."""

    def __init__(self, index: int, shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None = None) -> None:
        super().__init__(shape, dtype)
        self.index = index
        self.strides = pack(self.shape, dtype.itemsize) if strides is None else tuple(strides)


class Constant(Node):
    """An array that the function brings along."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        super().__init__(array.shape, array.dtype)
        self.array = array


class Parameter(Node):
    """A number or a small array that decides about tables alone; see `parameters`."""

    def __init__(self, value: Any) -> None:
        super().__init__(np.shape(value), np.asarray(value).dtype)
        self.value, self.is_scalar = value, np.ndim(value) == 0


class View(Node):
    """What indexing selects, with the axes in any order."""

    def __init__(self, of: Node, dims: Sequence[Along], fixed: dict[int, int]) -> None:
        super().__init__([along.extent for along in dims], of.dtype)
        self.operands, self.dims, self.fixed = (of,), tuple(dims), fixed

    def pieces(self, operands: Sequence[list[Piece]]) -> Iterator[Piece]:
        return layout.view(operands[0], self.operands[0].shape, self.dims, self.fixed)


class Take(Node):
    """Indices of an axis."""

    def __init__(self, of: Node, axis: int, taken: Taken) -> None:
        super().__init__((*of.shape[:axis], taken.period * taken.times, *of.shape[axis + 1 :]), of.dtype)
        self.operands, self.axis, self.taken = (of,), axis, taken

    @property
    def fewest(self) -> int:
        return len(self.taken.progressions)

    def pieces(self, operands: Sequence[list[Piece]]) -> Iterator[Piece]:
        return layout.take(operands[0], self.operands[0].shape[self.axis], self.axis, self.taken)


class Windowed(Node):
    """Windows of an axis, whose elements are the last axis."""

    def __init__(self, of: Node, along: Windows) -> None:
        shape = list(of.shape)
        shape[along.axis] = along.extent
        super().__init__((*shape, along.size), of.dtype)
        self.operands, self.along = (of,), along

    def pieces(self, operands: Sequence[list[Piece]]) -> Iterator[Piece]:
        return layout.windows(operands[0], self.along)


class Reshape(Node):
    """The same elements in the same order; or as elements of another dtype of the same size."""

    def __init__(self, of: Node, shape: Sequence[int], dtype: np.dtype[Any] | None = None) -> None:
        super().__init__(shape, of.dtype if dtype is None else dtype)
        self.operands = (of,)

    def pieces(self, operands: Sequence[list[Piece]]) -> Iterator[Piece]:
        return layout.reshape(operands[0], self.operands[0].shape, self.shape)


class Join(Node):
    """Arrays one behind another; they fit."""

    def __init__(self, parts: Sequence[Node], axis: int) -> None:
        first = parts[0]
        shape = list(first.shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        super().__init__(shape, first.dtype)
        self.operands, self.axis = tuple(parts), axis

    def pieces(self, operands: Sequence[list[Piece]]) -> Iterator[Piece]:
        sizes = [part.shape[self.axis] for part in self.operands]
        return layout.join(zip(operands, sizes, strict=True), self.axis)


# --- views by NumPy -------------------------------------------------------------------------------------------------


def pack(shape: Sequence[int], item: int) -> list[int]:
    """The strides of a C-contiguous array."""
    strides, stride = [0] * len(shape), item
    for k in reversed(range(len(shape))):
        strides[k] = stride
        stride *= max(1, shape[k])
    return strides


def stand_in(shape: Sequence[int], strides: Sequence[int] | None = None) -> Any:
    """An array with these strides, or those of a C-contiguous array of bytes. Its items have no bytes, so all may be read."""
    return _restrided(np.zeros(1, "V0"), shape, pack(shape, 1) if strides is None else strides)


def strided(node: Node) -> Any:
    """A stand-in with the strides of NumPy's array, as far as views tell; what is computed keeps the order of the axes."""
    chain = [node]
    while chain[-1].operands:
        chain.append(chain[-1].operands[0])
    like = stand_in(chain[-1].shape)
    if isinstance(chain[-1], Input):
        like = _restrided(like, like.shape, chain[-1].strides)
    for one in chain[-2::-1]:
        if isinstance(one, View):
            strides = [0 if along.axis is None else like.strides[along.axis] * along.step for along in one.dims]
            like = _restrided(like, one.shape, strides)
        elif isinstance(one, Windowed):
            step = like.strides[one.along.axis]
            strides = [step * one.along.stride if k == one.along.axis else each for k, each in enumerate(like.strides)]
            like = _restrided(like, one.shape, [*strides, step * one.along.dilation])
        elif isinstance(one, Reshape):
            made = like.reshape(one.shape)
            like = made if is_view(made, like) else stand_in(one.shape)
        else:
            order = [k for _, k in sorted((-abs(stride), k) for k, stride in enumerate(like.strides))]
            packed = dict(zip(order, pack([one.shape[k] for k in order], 1), strict=True))
            like = _restrided(like, one.shape, [packed[k] for k in range(like.ndim)])
    return like


def _restrided(like: Any, shape: Sequence[int], strides: Sequence[int]) -> Any:
    return np.lib.stride_tricks.as_strided(like, shape, strides, writeable=False)


def as_view(node: Node, function: Callable[[Any], Any]) -> Any:
    """The view that a function of NumPy's makes of an array, or a list or tuple of them: read from a stand-in's strides."""
    like = stand_in(node.shape)
    made = function(like)
    if isinstance(made, (list, tuple)):
        return type(made)(_read_view(node, like, one) for one in made)
    return _read_view(node, like, made)


def is_view(made: Any, like: Any) -> bool:
    """Whether an array is a view of another one."""
    while made is not None and made is not like:
        made = getattr(made, "base", None)
    return made is like


def _read_view(node: Node, like: Any, made: Any) -> Node:
    if not is_view(made, like):
        raise NotImplementedError("NumPy makes a copy")
    if made.size == 0:
        return View(node, [Along(None, 0, 1, size) for size in made.shape], {})
    at = made.__array_interface__["data"][0] - like.__array_interface__["data"][0]
    strides = pack(node.shape, 1)
    starts = {}
    for k, each in enumerate(strides):
        starts[k], at = divmod(at, each)
    dims = []
    for extent, stride in zip(made.shape, made.strides, strict=True):
        axis = next((k for k, each in enumerate(strides) if extent > 1 and each <= abs(stride) < each * node.shape[k]), None)
        if axis is None:
            dims.append(Along(None, 0, 1, extent))
        elif axis in starts and stride % strides[axis] == 0:
            dims.append(Along(axis, starts.pop(axis), stride // strides[axis], extent))
        else:
            raise NotImplementedError("one axis of the view runs along several axes of the array")
    return View(node, dims, {axis: first for axis, first in starts.items()})


def in_brackets(where: object) -> str:
    """A line of the user's function as the end of an error's text; empty where there is none."""
    return f" ({where})" if str(where) else ""
