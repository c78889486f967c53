"""NumPy's functions of traced arrays."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlops.entries import index_array
from dmlops.fusion import movements, numpy_indices, numpy_joins, numpy_maps
from dmlops.fusion.derived import evaluated
from dmlops.fusion.graph import Node, Reshape, View, Windowed, as_view, is_view, stand_in, strided
from dmlops.fusion.layout import Windows
from dmlops.fusion.numpy_maps import astype, call_map, take_along_axis
from dmlops.fusion.traced import Trace, Traced, axis_of, name_of, node_of, refuse
from dmlops.numpy_names import QUESTIONS, VIEWS
from dmlops.operators.crop_places import cropped
from dmlops.operators.nearest import Indices, Nearest, pattern_of
from dmlops.operators.single_steps import resized, windowed

__all__ = ["call", "handlers"]

_ONE_NUMBER = (
    "sum mean std var min max amin amax ptp any all prod median average percentile quantile argmin argmax count_nonzero "
    "nansum nanmean nanstd nanvar nanmin nanmax nanmedian"
).split()

_Handler = Callable[..., Any]


def call(trace: Trace, function: Any, args: Any, kwargs: Any) -> Any:
    """Record a call of a function of NumPy's, or of one of operator's or of an array's method."""
    if trace.derived is not None:
        computed = evaluated(trace, function, args, kwargs)
        if computed is not NotImplemented:
            return computed
    handler = handlers().get(function)
    if handler is None and function in _map_functions():
        return call_map(trace, function, args, kwargs, _map_functions()[function])
    if handler is None and function.__name__ in _ONE_NUMBER:
        refuse(
            name_of(function),
            "end the fused function before it, or apply it before the fused function; "
            "a number that it gives can be an argument",
        )
    if handler is None:
        refuse(name_of(function))
    return handler(trace, function, *args, **kwargs)


# --- views ----------------------------------------------------------------------------------------------------------


def _by_view(trace: Trace, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Functions of one array that return views of it: NumPy applies them to a stand-in."""
    order = _order_of(function, args, kwargs) if args and isinstance(args[0], Traced) else None
    if order is not None:
        return trace.record(function, args, kwargs, movements.rearranged(args[0]._node, order))
    arrays = [one for one in (*args, *kwargs.values()) if isinstance(one, Traced)]
    if len(arrays) != 1:
        refuse(f"{name_of(function)} of several traced arrays", "call it for each of them")

    def apply(like: Any) -> Any:
        def other(value: Any) -> Any:
            return like if value is arrays[0] else value

        return function(*map(other, args), **{name: other(value) for name, value in kwargs.items()})

    try:
        made = as_view(arrays[0]._node, apply)
    except NotImplementedError as error:
        refuse(f"{name_of(function)} here ({error})")
    return trace.record(function, args, kwargs, made)


_SIZES = (3, 5, 7, 11, 13, 17, 19, 23)  # that tell the axes of a view


def _order_of(function: Any, args: Any, kwargs: Any) -> Any:
    """The order of axes that a function gives an array of any size, as `movements.rearranged` has it; None where none."""
    x = args[0]._node
    others = [*args[1:], *kwargs.values()]
    if function not in _rearranging() or len(x.shape) > len(_SIZES) or not all(map(_is_plain, others)):
        return None
    listed = [(type(one), tuple(one)) if type(one) is list else one for one in others]
    return _order(function, len(x.shape), tuple(listed), tuple(kwargs))


def _is_plain(value: Any) -> bool:
    """Whether an argument is None, an int, or ints: what is equal to it is the same."""
    if type(value) in (tuple, list):
        return all(type(one) is int for one in value)
    return value is None or type(value) is int


@functools.lru_cache(1024)
def _order(function: Any, rank: int, arguments: Any, names: Any) -> Any:
    """The last arguments have names; lists are marked as such."""
    given = [list(one[1]) if type(one) is tuple and one[:1] == (list,) else one for one in arguments]
    own, named = given[: len(given) - len(names)], dict(zip(names, given[len(given) - len(names) :], strict=True))
    x = Node(_SIZES[:rank], np.dtype(np.uint8))
    made = as_view(x, lambda like: function(like, *own, **named))
    if not isinstance(made, View) or made.fixed or any(along.axis is None and along.extent != 1 for along in made.dims):
        return None
    return tuple([(along.axis, along.step) for along in made.dims])


@functools.cache
def _rearranging() -> set[Any]:
    """The functions whose views depend on no size."""
    return {getattr(np, name) for name in _REARRANGING.split() if name in vars(np)}


_REARRANGING = "transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis expand_dims flip fliplr flipud rot90"


def _getitem(trace: Trace, function: Any, x: Any, key: Any) -> Any:
    node = node_of(x, function)
    entries = [_entry(entry, node) for entry in (key if isinstance(key, tuple) else (key,))]  # errors of all come first
    if any(isinstance(entry, Traced) for entry in entries):
        return numpy_indices.by_arrays(trace, x, entries)
    advanced = [k for k, entry in enumerate(entries) if isinstance(entry, np.ndarray)]
    if not advanced:
        made = movements.index(node, tuple(entries))
        made.is_scalar = made.shape == () and Ellipsis not in entries
        return trace.record(function, (x, tuple(entries)), {}, made)
    if len(advanced) > 1 or any(isinstance(entry, int) for entry in entries):
        refuse("an index of several arrays, or of an array and ints", "index by one of them after the other")
    return trace.record(function, (x, tuple(entries)), {}, _take_by_key(node, entries, advanced[0]))


def _entry(entry: Any, x: Node) -> Any:
    """An entry of a key: None, ..., a slice, an int, or an array of indices or bools of one axis or more."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, Traced):
        return entry
    if hasattr(type(entry), "__index__") and not isinstance(entry, (np.ndarray, bool)):
        try:
            return operator.index(entry)  # also of what is a sequence, too
        except TypeError:
            pass
    array = index_array(entry)
    if x.dtype.names is not None and array.dtype.kind in "SU":
        refuse("a field of a structure", "pass an array of the field")
    if array.dtype.kind not in "iub":
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
            "indices"
            if array.ndim == 0 or not isinstance(entry, np.ndarray)
            else "arrays used as indices must be of integer (or boolean) type"
        )
    if array.ndim > 0:
        return array.copy()  # what the caller's becomes later is not seen
    if array.dtype.kind == "b":
        refuse("a bool as an index")
    return int(array)


def _take_by_key(x: Node, entries: list[Any], advanced: int) -> Node:
    """One entry is a constant array of indices, or of bools."""
    plain = [*entries[:advanced], slice(None), *entries[advanced + 1 :]]
    kept = movements.index(x, tuple(plain))
    behind = entries[advanced + 1 :]
    if any(entry is Ellipsis for entry in behind):
        axis = sum(entry is not Ellipsis for entry in entries[:advanced])
    else:
        axis = len(kept.shape) - 1 - len(behind) if any(entry is Ellipsis for entry in entries) else advanced
    return _taken(kept, entries[advanced], axis)


def _taken(x: Node, indices: Any, axis: int) -> Node:
    """What an array of indices or bools selects of an axis; raises what NumPy raises."""
    if indices.dtype == bool and indices.ndim > 1:
        refuse("a mask of several axes", "index by the mask before the fused function, or after it")
    size = x.shape[axis]
    shape = np.broadcast_to(np.int8(0), (size,))[indices].shape
    positions = np.flatnonzero(indices) if indices.dtype == bool else indices.astype(np.int64) % max(size, 1)
    made = movements.take(x, positions.reshape(-1), axis)
    return movements.reshape(made, (*x.shape[:axis], *shape, *x.shape[axis + 1 :]))


def _take(trace: Trace, function: Any, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    if out is not None or mode != "raise":
        refuse("numpy.take with out or another mode than 'raise'")
    if isinstance(indices, Traced):
        return numpy_indices.take(trace, function, a, indices, axis)
    x, at = movements.along(node_of(a, function), axis)
    wanted = np.array(indices, None if isinstance(indices, np.ndarray) else int).astype(int, casting="same_kind")
    return trace.record(function, (a, wanted), {"axis": axis}, _taken(x, wanted, at))


def _windows(trace: Trace, function: Any, x: Any, axis: int, *along: int) -> Any:
    """The function of `operators.single_steps`."""
    return trace.record(function, (x, axis, *along), {}, Windowed(node_of(x, function), Windows(axis, *along)))


def _resized(trace: Trace, function: Any, x: Any, axis: int, line: Nearest | Indices) -> Any:
    """The function of `operators.single_steps`."""
    return trace.record(function, (x, axis, line), {}, movements.nearest(node_of(x, function), axis, pattern_of(line)))


def _sliding_window_view(
    trace: Trace, function: Any, x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Any:
    node = node_of(x, function)
    function(stand_in(node.shape), window_shape, axis)  # raises what NumPy raises
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(len(node.shape)) if axis is None else axis if np.iterable(axis) else (axis,)
    for size, each in zip(sizes, axes, strict=True):
        at, size = axis_of(each, x._node), operator.index(size)
        node = Windowed(node, Windows(at, size, 1, 1, node.shape[at] - size + 1))
    return trace.record(function, (x, window_shape, axis), {}, node)


# --- shapes ---------------------------------------------------------------------------------------------------------


def _reshape(
    trace: Trace, function: Any, a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    shape = newshape if shape is None else shape
    x = node_of(a, function)
    order = order.upper() if isinstance(order, str) else order
    if order not in ("C", "F"):
        refuse(f"a reshape of order {order!r}", "name the order, 'C' or 'F'")
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    sizes = _sizes_of(x, shape)
    if copy is not None and not copy:
        like = strided(x)
        if not is_view(like.reshape(sizes, order=order), like):
            raise ValueError("Unable to avoid creating a copy while reshaping.")
    return trace.record(np.reshape, (a, sizes), {"order": order}, _reordered(x, sizes, order))


def _sizes_of(x: Node, shape: Any) -> tuple[int, ...]:
    """The shape that a reshape results in, or NumPy's error."""
    wanted = (shape,) if type(shape) is int else tuple(shape) if type(shape) in (tuple, list) else (None,)
    if x.size and len(wanted) <= movements.MOST_AXES and all(type(size) is int and (size > 0 or size == -1) for size in wanted):
        total, open_axes = abs(math.prod(wanted)), wanted.count(-1)
        if open_axes == 0 and total == x.size:
            return wanted
        if open_axes == 1 and x.size % total == 0:
            return tuple([x.size // total if size == -1 else size for size in wanted])
    like = stand_in(x.shape) if x.size else np.empty(x.shape, "V0")
    made: tuple[int, ...] = like.reshape(shape).shape
    return made


def _reordered(x: Node, sizes: Sequence[int], order: str) -> Node:
    if order == "C":
        return movements.reshape(x, sizes)
    turned = movements.reshape(movements.transpose(x, range(len(x.shape))[::-1]), tuple(sizes)[::-1])
    return movements.transpose(turned, range(len(sizes))[::-1])


def _ravel(trace: Trace, function: Any, a: Any, order: str = "C") -> Any:
    return _reshape(trace, function, a, -1 if a.size else (0,), order)


def _view(trace: Trace, function: Any, x: Any, dtype: Any) -> Any:
    node, new = node_of(x, function), np.dtype(dtype)
    if new.itemsize != node.dtype.itemsize or new.hasobject:
        refuse(f"a view of {node.dtype} as {new}", "only dtypes of the same size view each other here")
    return trace.record(_same_index, (x, dtype), {}, Reshape(node, node.shape, new))


def _same_index(x: Any, *_: Any, **__: Any) -> Any:
    """What a step that changes elements, and moves none, does to their numbers."""
    return x


def _copy(trace: Trace, function: Any, a: Any, order: str = "K", subok: bool = False) -> Any:
    return a


# --- questions ------------------------------------------------------------------------------------------------------


def _by_shape(trace: Trace, function: Any, *args: Any, **kwargs: Any) -> Any:
    def other(value: Any) -> Any:
        return np.broadcast_to(np.zeros((), value.dtype), value.shape) if isinstance(value, Traced) else value

    return function(*map(other, args), **{name: other(value) for name, value in kwargs.items()})


@functools.cache
def _map_functions() -> dict[Any, tuple[Any, ...]]:
    return {getattr(np, name): whole for name, whole in numpy_maps.FUNCTIONS.items() if name in vars(np)}


@functools.cache
def handlers() -> dict[Any, _Handler]:
    """By function; some do not exist in every version of NumPy."""
    several: dict[_Handler, str] = {
        _by_view: f"{VIEWS} broadcast_to",
        _by_shape: f"{QUESTIONS} result_type can_cast",
        numpy_joins.concatenate: "concatenate concat",
        numpy_joins.stack: "stack",
        numpy_joins.stack_kin(np.atleast_2d, lambda rank: 0): "vstack row_stack",
        numpy_joins.stack_kin(np.atleast_1d, lambda rank: 0 if rank == 1 else 1): "hstack",
        numpy_joins.stack_kin(np.atleast_3d, lambda rank: 2): "dstack",
        numpy_joins.stack_kin(
            lambda like: like if like.ndim > 1 else np.atleast_1d(like)[:, None], lambda rank: 1
        ): "column_stack",
        numpy_joins.new_like(np.zeros): "zeros_like",
        numpy_joins.new_like(np.ones): "ones_like",
        numpy_joins.full_like: "full_like",
        numpy_joins.append: "append",
        numpy_joins.block: "block",
        numpy_joins.broadcast_arrays: "broadcast_arrays",
        _copy: "copy",
        numpy_joins.pad: "pad",
        numpy_joins.tile: "tile",
        numpy_joins.repeat: "repeat",
        numpy_joins.roll: "roll",
        _reshape: "reshape",
        _ravel: "ravel",
        _take: "take",
        take_along_axis: "take_along_axis",
    }
    found: dict[Any, _Handler] = {operator.getitem: _getitem, np.ndarray.view: _view, np.ndarray.astype: astype}
    found |= {windowed: _windows, resized: _resized, cropped: numpy_indices.crops}
    found[np.lib.stride_tricks.sliding_window_view] = _sliding_window_view
    found |= dict.fromkeys(numpy_maps.OPERATORS, numpy_maps.by_operator)
    for handler, names in several.items():
        found |= {getattr(np, name): handler for name in names.split() if name in vars(np)}
    return found
