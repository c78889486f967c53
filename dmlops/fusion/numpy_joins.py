"""NumPy's functions of traced arrays that join, pad and repeat."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlops.fusion import movements
from dmlops.fusion.graph import Node, as_view
from dmlops.fusion.expressions import BY_VALUE
from dmlops.fusion.numpy_maps import astype
from dmlops.fusion.traced import RefusedError, Trace, Traced, axis_of, constant_from, name_of, node_of, refuse

__all__ = [
    "append",
    "block",
    "broadcast_arrays",
    "concatenate",
    "full_like",
    "new_like",
    "pad",
    "repeat",
    "roll",
    "stack",
    "stack_kin",
    "tile",
]


_REPEATS_PERIODS = np.lib.NumpyVersion(np.__version__) >= "2.0.0"  # where padding reflects far beyond an axis

# --- several arrays -------------------------------------------------------------------------------------------------


def _lifted(
    trace: Trace, function: Any, arrays: Any, dtype: Any = None, casting: Any = "same_kind", flat: bool = False
) -> list[Traced]:
    """Traced arrays of the dtype that NumPy joins them to; others among them are constants, and Python's numbers adapt.

    Where NumPy does not join them flat, each has an axis by then: older versions promote what has none by its value.
    """
    parts = [one if isinstance(one, Traced) or type(one) in _WEAK else constant_from(one) for one in arrays]
    for number, one in enumerate(parts):
        if type(one) not in _WEAK and one.dtype.hasobject and one.shape == () and one[()] is None:  # an unread image
            raise RefusedError("None", f"arrays[{number}] is None, not an array")
    if flat and BY_VALUE and len({one.dtype for one in parts if type(one) not in _WEAK}) > 1:
        if any(isinstance(one, Traced) and one.ndim == 0 for one in parts):
            refuse("a join with an array of no axes, by whose value this NumPy chooses the dtype", "name the dtype by astype")
    first = parts[0].dtype if parts and isinstance(parts[0], Traced) else None
    if first is not None and first.isbuiltin == 1 and (dtype is None or dtype is first):
        if all(isinstance(one, Traced) and one.dtype is first for one in parts):
            return parts
    likes = [one if type(one) in _WEAK else np.zeros((1,) * (not flat or one.ndim > 0), one.dtype) for one in parts]
    common = np.concatenate(likes, axis=None, dtype=dtype, casting=casting).dtype
    if common.hasobject:
        refuse(f"{name_of(function)} of Python objects", "pass arrays of plain bytes")
    return [astype(trace, None, one, common) if isinstance(one, Traced) else trace.lift(_cast(one, common)) for one in parts]


def _cast(constant: Any, dtype: np.dtype[Any]) -> Any:
    """As NumPy casts what it joins: a number that is too large wraps."""
    return np.asarray(constant).astype(dtype)


_WEAK = (bool, int, float, complex)


def _arrays(values: Any) -> list[Any]:
    """Arrays, some of which are traced: functions that make arrays of numbers first do not let them adapt."""
    return [one if isinstance(one, Traced) else constant_from(one) for one in values]


def _joined(trace: Trace, function: Any, arrays: Any, parts: Sequence[Node], along: int, **kwargs: Any) -> Any:
    axis = axis_of(along, parts[0])
    shapes = [part.shape[:axis] + part.shape[axis + 1 :] for part in parts]
    if any(len(part.shape) != len(parts[0].shape) for part in parts) or set(shapes) != {shapes[0]}:
        raise ValueError(f"arrays of shapes {', '.join(str(part.shape) for part in parts)} cannot be joined on axis {axis}")
    return trace.record(function, (arrays,), kwargs, movements.join(parts, axis))


def concatenate(
    trace: Trace,
    function: Any,
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    if out is not None:
        refuse(f"{name_of(function)} with out", "leave it out")
    if axis is None:
        lifted = _lifted(trace, function, arrays, dtype, casting, flat=True)
        return _joined(trace, function, lifted, [movements.reshape(one._node, (one.size,)) for one in lifted], 0, axis=None)
    lifted = _lifted(trace, function, _arrays(arrays), dtype, casting)
    if any(one.ndim == 0 for one in lifted):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return _joined(trace, function, lifted, [one._node for one in lifted], operator.index(axis), axis=axis)


def stack(
    trace: Trace,
    function: Any,
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    if out is not None:
        refuse("numpy.stack with out", "leave it out")
    lifted = _lifted(trace, function, _arrays(arrays), dtype, casting)
    parts = [as_view(one._node, lambda like: np.expand_dims(like, axis)) for one in lifted]
    return _joined(trace, function, lifted, parts, operator.index(axis), axis=axis)


def stack_kin(like_one: Callable[[Any], Any], axis: Callable[[int], int]) -> Callable[..., Any]:
    """Functions that make each array one of more dimensions first."""

    def handler(trace: Trace, function: Any, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
        lifted = _lifted(trace, function, _arrays(tup), dtype, casting)
        parts = [as_view(one._node, like_one) for one in lifted]
        return _joined(trace, function, lifted, parts, axis(len(parts[0].shape)))

    return handler


def broadcast_arrays(trace: Trace, function: Any, *args: Any, subok: bool = False) -> Any:
    shape = np.broadcast_shapes(*(node_of(one, function).shape for one in args))
    made = [np.broadcast_to(one, shape) for one in args]
    return type(np.broadcast_arrays(0))(made)  # before NumPy 2 a list


def append(trace: Trace, function: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    both = _arrays([arr, values])
    if axis is None:
        both = [np.ravel(one) for one in both]
    return concatenate(trace, np.concatenate, both, 0 if axis is None else axis)


def block(trace: Trace, function: Any, arrays: Any) -> Any:
    def leaf(value: Any) -> Traced:
        if isinstance(value, tuple):
            raise TypeError("a tuple in the argument of numpy.block; only lists nest arrays")
        return trace.lift(value)

    def depth_of(entry: Any) -> int:
        if not isinstance(entry, list):
            leaves.append(leaf(entry))
            return 0
        depths = {depth_of(one) for one in entry}
        if len(depths) != 1:
            raise ValueError("the lists in the argument of numpy.block are empty, or nest to different depths")
        return 1 + depths.pop()

    leaves: list[Traced] = []
    depth = depth_of(arrays)
    rank = max(depth, *(one.ndim for one in leaves))
    left = iter(leaves)

    def made(entry: Any, axis: int) -> Any:
        if isinstance(entry, list):
            return np.concatenate([made(one, axis + 1) for one in entry], axis)
        one = next(left)
        return one[(None,) * (rank - one.ndim)]

    return made(arrays, -depth)


# --- padding and repetition -----------------------------------------------------------------------------------------

_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflection", "symmetric": "symmetric", "wrap": "wrap"}


def pad(trace: Trace, function: Any, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    x = node_of(array, function)
    value = kwargs.get("constant_values", 0)
    plain = type(value) is int and not kwargs.keys() - {"constant_values"}  # what is equal to it is the same
    if isinstance(mode, str):
        (_ask if plain else _ask.__wrapped__)(function, len(x.shape), x.dtype, mode, tuple(kwargs.items()))
    if mode not in _MODES or kwargs.get("reflect_type", "even") != "even":
        refuse(f"numpy.pad of mode {mode!r}{' and reflect_type' * ('reflect_type' in kwargs)}")
    widths = _widths(x, pad_width)
    if any(size == 0 and sum(pair) for size, pair in zip(x.shape, widths, strict=True)) and mode != "constant":
        raise ValueError("can't extend an empty axis using modes other than 'constant' or 'empty'")
    if mode != "constant":
        for axis, (before, after) in enumerate(widths):
            _check_periods(x.shape[axis], before, after, mode)
            x = movements.pad_periodic(x, axis, before, after, _MODES[mode])
        return trace.record(function, (array, widths or pad_width, mode), {}, x)
    codes = []
    fill = trace.lift(_fill(x.dtype, value)) if plain else None
    for axis, pair in enumerate(widths):
        sides = [trace.lift(item) for item in _fills(x, axis, value)] if fill is None else [fill, fill]
        codes.append(sides)
        if any(pair):
            x = movements.pad_constant(x, axis, (pair[0], sides[0]._node), (pair[1], sides[1]._node))
    return trace.record(function, (array, widths or pad_width, mode), {"constant_values": codes or 0}, x)


@functools.lru_cache(256)
def _ask(function: Any, rank: int, dtype: np.dtype[Any], mode: str, kwargs: Any) -> None:
    """Raise for what NumPy does not know."""
    function(np.zeros((1,) * rank, dtype), 0, mode, **dict(kwargs))


def _check_periods(size: int, before: int, after: int, mode: Any) -> None:
    """Raise where NumPy 1 repeats no period: it reflects all that it has so far, also about ends within a period."""
    period, left, right = size - (mode == "reflect"), 0, 0
    if _REPEATS_PERIODS or mode not in ("reflect", "symmetric") or period < 1:
        return
    while left < before or right < after:
        if (left < before and left % period) or (right < after and right % period):
            refuse(f"mode {mode!r} of numpy.pad so far beyond an axis, where NumPy {np.__version__} repeats no period,")
        length = period + left + right
        left, right = min(before, left + length), min(after, right + length)


def _widths(x: Node, pad_width: Any) -> Any:
    """Two numbers for each axis."""
    if x.shape and type(pad_width) in (tuple, list) and len(pad_width) == len(x.shape) and all(map(_is_pair, pad_width)):
        return [list(pair) for pair in pad_width]
    if isinstance(pad_width, dict):  # of some axes
        by_axis: list[Any] = [(0, 0)] * len(x.shape)
        for axis, width in pad_width.items():
            by_axis[axis] = np.broadcast_to(width, 2)
        pad_width = by_axis
    pad_width = np.array(pad_width)
    if pad_width.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    widths = np.broadcast_to(pad_width, (len(x.shape), 2)).tolist()
    if np.min(widths, initial=0) < 0:
        raise ValueError("index can't contain negative values")
    return widths


def _is_pair(value: Any) -> bool:
    return type(value) in (tuple, list) and len(value) == 2 and all(type(one) is int and 0 <= one < 1 << 62 for one in value)


@functools.lru_cache(256)
def _fill(dtype: np.dtype[Any], value: int) -> Any:
    """The element that NumPy makes of a number; a constant is a copy of it."""
    return _fills(Node((1,), dtype), 0, value)[0]


def _fills(x: Node, axis: int, values: Any) -> list[Any]:
    """The elements that NumPy makes of numpy.pad's `constant_values` before an axis and behind it."""
    rank = len(x.shape)
    widths = [(int(k == axis),) * 2 for k in range(rank)]
    made = np.pad(np.zeros((1,) * rank, x.dtype), widths, constant_values=values).reshape(-1)
    return [made[:1].reshape(()), made[-1:].reshape(())]


def tile(trace: Trace, function: Any, A: Any, reps: Any) -> Any:
    x = node_of(A, function)
    counts = [operator.index(count) for count in (reps if np.iterable(reps) else (reps,))]
    rank = max(len(counts), len(x.shape))
    x = movements.reshape(x, (1,) * (rank - len(x.shape)) + x.shape)
    for axis, count in enumerate([1] * (rank - len(counts)) + counts):
        x = movements.tile(x, count, axis) if count != 1 else x
    return trace.record(function, (A, tuple(counts)), {}, x)


def _count(repeats: Any) -> int:
    """Of numpy.repeat, from what is no plain int; raises what NumPy raises."""
    if np.size(repeats) != 1:
        refuse("numpy.repeat by an array", "repeat by one number")
    np.repeat(np.empty(0, "V0"), repeats)  # raises what NumPy raises for its type
    return int(np.array(repeats).astype(np.intp).reshape(-1)[0])


def repeat(trace: Trace, function: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    x = node_of(a, function)
    count = repeats if type(repeats) is int and abs(repeats) < 1 << 62 else _count(repeats)
    x, at = movements.along(x, axis)
    if count < 0:
        raise ValueError("repeats may not contain negative values.")
    return trace.record(function, (a, count), {"axis": axis}, movements.repeat(x, count, at) if count != 1 else x)


def roll(trace: Trace, function: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    x = node_of(a, function)
    made = movements.reshape(x, (x.size,)) if axis is None else x
    pairs = np.broadcast(shift, 0 if axis is None else axis)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    for each, at in pairs:
        if type(shift) is not int and each % (made.shape[axis_of(at, made)] or 1):
            np.roll(np.empty(2, "V0"), type(each)(1))  # raises what NumPy raises for its type
        made = movements.roll(made, int(each), axis_of(at, made))
    return trace.record(function, (a, shift), {"axis": axis}, movements.reshape(made, x.shape) if axis is None else made)


def full_like(
    trace: Trace,
    function: Any,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
) -> Any:
    return _filled(trace, a, np.full(np.shape(fill_value), fill_value, a.dtype if dtype is None else dtype), shape)


def new_like(new: Callable[..., Any]) -> Callable[..., Any]:
    """By the function that makes a new array of one value."""

    def handler(
        trace: Trace, function: Any, a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
    ) -> Any:
        return _filled(trace, a, new((), a.dtype if dtype is None else dtype), shape)

    return handler


def _filled(trace: Trace, a: Any, value: Any, shape: Any) -> Any:
    made = trace.lift(value)
    sizes = a.shape if shape is None else np.empty(shape, "V0").shape
    return trace.record(np.broadcast_to, (made, sizes), {}, movements.broadcast(made._node, sizes))
