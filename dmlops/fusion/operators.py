"""dmlops' operators of traced arrays: NumPy's functions, as their twins call them, or chains of views, reshapes and joins."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.fusion import movements
from dmlops.fusion.graph import Constant, Node
from dmlops.fusion.reference import twin_call
from dmlops.fusion.resized import Resize
from dmlops.fusion.traced import Trace, Traced, refuse, refuse_places
from dmlops.operators.tracking import PART
from dmlops.resizing.described import resampled
from dmlops.scalars import item_of

__all__ = ["call"]

_BY_THEIR_TWINS = ("slice", "tile", "join", "split", "transpose", "upsample")  # which change no elements in place


def call(trace: Trace, name: str, inputs: Any, others: Any) -> Any:
    """Record a call of an operator; `others` are its own arguments, then `out`, `device` and `how`."""
    if name == "resample":
        return _resample(trace, inputs, *others)
    if name not in _BY_THEIR_TWINS and name not in _OPERATORS:
        refuse("an operator of dmlops that reads at indices", "x[indices], numpy.take and numpy.take_along_axis can be")
    *own, out, device, how = others
    refuse_places(f"dmlops.{name}", out, device, _progress_of(how))
    if not isinstance(inputs, tuple):
        inputs = (inputs,)
    arrays = [trace.lift(one) for one in inputs]
    if any(isinstance(argument, Traced) for argument in own):
        refuse(f"dmlops.{name} with traced lengths")
    if name != "reverse_subsequences":
        own = [tuple(argument) if isinstance(argument, Iterator) else argument for argument in own]  # can be read once
    elif isinstance(own[0], DeviceArray):
        own[0] = own[0].numpy()
    _check(name, arrays, own)
    twin, named = twin_call(name, [_as_constant(argument) for argument in own])
    if name in _BY_THEIR_TWINS:
        return twin(arrays if name == "join" else arrays[0], **named)
    x = arrays[0]
    if name == "padding":
        named["value"] = trace.lift(np.ndarray((), x.dtype, item_of(named["value"], x.dtype)))
    return trace.record(twin, (x,), named, _OPERATORS[name](x._node, *named.values()))


def _resample(trace: Trace, x: Traced, resampling: Any, axes: Any, window: Any, out: Any, device: Any, how: Any) -> Any:
    """A resampling of two axes, which dmlops.resizing has checked."""
    refuse_places("resizing", out, device, _progress_of(how))
    made = Resize(x._node, resampling, axes, window[1::2])
    return trace.record(resampled, (x, resampling, axes), {}, made)


def _progress_of(how: Any) -> Any:
    """What reports progress, where the extension is told to run a call so."""
    return how if isinstance(how, tuple) else None


def _as_constant(argument: Any) -> Any:
    """What the function cannot change later; of a checked argument, since a tuple could be made of a dict or a set, too."""
    is_one = isinstance(argument, (str, bytes, np.generic, np.ndarray)) or not np.iterable(argument)
    return argument if is_one else tuple(argument)


def _check(name: str, arrays: list[Traced], own: list[Any]) -> None:
    """Raise what the operator raises for these arguments."""
    likes = [(one.dtype, one.shape, (0,) * one.ndim) for one in arrays]
    function = getattr(_core, f"_{name}")
    function(likes if name == "join" else likes[0], *own, None, "cpu-class", "explain")
    if name == "reverse_subsequences":  # an explanation reads no lengths; elements without bytes cost nothing
        function(np.empty(arrays[0].shape, "V0"), *own, None, "host", PART)


def _ints(values: Any) -> list[int]:
    return [operator.index(value) for value in values]


def _blocks(x: Node, value: Any) -> list[int]:
    return _ints(value) if np.iterable(value) else [operator.index(value)] * (len(x.shape) - 2)


# --- operators whose twins change elements in place: the node that each makes --------------------------------------------

# Plain NumPy needs more axes for them than an array may have, or has not their result in each version (docs/tuning.md).


def _depth_to_space(x: Node, block_size: Any, order: str, layout: str) -> Node:
    return movements.depth_to_space(x, _blocks(x, block_size), order == "DCR", layout == "NHWC")


def _space_to_depth(x: Node, block_size: Any, order: str, layout: str) -> Node:
    return movements.space_to_depth(x, _blocks(x, block_size), order == "DCR", layout == "NHWC")


def _padding(x: Node, starts: Any, ends: Any, mode: str, value: Traced) -> Node:
    for axis, (before, after) in enumerate(zip(_ints(starts), _ints(ends), strict=True)):
        if mode == "constant":
            x = movements.pad_constant(x, axis, (before, value._node), (after, value._node))
        else:
            x = movements.pad_periodic(x, axis, before, after, mode)
    return x


def _slice_grad(x: Node, shape: Any, offsets: Any, sizes: Any, strides: Any) -> Node:
    zero = Constant(np.zeros((), x.dtype))
    for axis, (whole, offset, size) in enumerate(zip(_ints(shape), _ints(offsets), _ints(sizes), strict=True)):
        step = 1 if strides is None else operator.index(strides[axis])
        x = movements.dilated(x, axis, abs(step), zero)
        x = movements.cut(x, axis, 0, min(size, x.shape[axis]))
        x = movements.pad_constant(x, axis, (0, zero), (size - x.shape[axis], zero))
        if step < 0:
            x = movements.flip(x, axis)
        x = movements.pad_constant(x, axis, (offset, zero), (whole - offset - size, zero))
    return x


def _reverse_subsequences(x: Node, lengths: Any, axis: Any, batch_axis: Any) -> Node:
    axis = operator.index(axis) % len(x.shape)
    counts = np.array(lengths)
    if batch_axis is not None:
        sizes = [1] * len(x.shape)
        sizes[operator.index(batch_axis)] = -1
        counts = counts.reshape(sizes)
    return _reversed(x, counts, axis)


def _reversed(x: Node, counts: Any, axis: int) -> Node:
    if x.size == 0:
        return x
    if (counts == counts.flat[0]).all():
        length = min(int(counts.flat[0]), x.shape[axis])
        return movements.join([movements.cut(x, axis, length - 1, -1, -1), movements.cut(x, axis, length, x.shape[axis])], axis)
    cut = next(k for k, size in enumerate(counts.shape) if size > 1)
    parts = [_reversed(movements.cut(x, cut, k, k + 1), counts.take([k], cut), axis) for k in range(x.shape[cut])]
    return movements.join(parts, cut)


_OPERATORS: dict[str, Callable[..., Node]] = {
    "reverse_subsequences": _reverse_subsequences,
    "depth_to_space": _depth_to_space,
    "space_to_depth": _space_to_depth,
    "padding": _padding,
    "slice_grad": _slice_grad,
}
