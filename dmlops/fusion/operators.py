"""dmlops' operators of traced arrays, as chains of views, reshapes and joins."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops import _core, reference
from dmlops.fusion import movements
from dmlops.fusion.graph import Constant, Node
from dmlops.fusion.resized import Resize
from dmlops.fusion.traced import Trace, Traced, refuse
from dmlops.resizing.described import resampled
from dmlops.scalars import item_of

__all__ = ["call"]


def call(trace: Trace, name: str, inputs: Any, others: Any) -> Any:
    """Record a call of an operator; `others` are its own arguments, then `out`, `device` and `how`."""
    if name == "resample":
        return _resample(trace, inputs, *others)
    if name not in _OPERATORS:
        refuse("an operator of dmlops that reads at indices", "numpy.take of indices that are constants can be")
    *own, out, device, how = others
    if out is not None or device is not None or isinstance(how, tuple):
        refuse(f"dmlops.{name} with out, device or progress", "give them to the fused function")
    if not isinstance(inputs, tuple):
        inputs = (inputs,)
    arrays = [trace.lift(one) for one in inputs]
    if name == "split":
        own[1] = [operator.index(size) for size in own[1]]
    own = [_as_constant(name, argument) for argument in own]
    _check(name, arrays, own)
    made, twin_arguments = _OPERATORS[name](trace, [one._node for one in arrays], own)
    first = arrays if name == "join" else arrays[0]
    return trace.record(_twin(name), (first, *own[: len(own) - len(twin_arguments)]), twin_arguments, made)


def _resample(trace: Trace, x: Traced, resampling: Any, axes: Any, window: Any, out: Any, device: Any, how: Any) -> Any:
    """A resampling of two axes, which dmlops.resizing has checked."""
    if out is not None or device is not None or isinstance(how, tuple):
        refuse("resizing with out, device or progress", "give them to the fused function")
    made = Resize(x._node, resampling, axes, window[1::2])
    return trace.record(resampled, (x, resampling, axes), {}, made)


def _as_constant(name: str, argument: Any) -> Any:
    if isinstance(argument, Traced):
        refuse(f"dmlops.{name} with traced lengths")
    return tuple(argument) if not isinstance(argument, (str, np.ndarray)) and np.iterable(argument) else argument


def _check(name: str, arrays: list[Traced], own: list[Any]) -> None:
    """Raise what the operator raises for these arguments."""
    likes = [(one.dtype, one.shape, (0,) * one.ndim) for one in arrays]
    function = getattr(_core, f"_{name}")
    function(likes if name == "join" else likes[0], *own, None, "cpu-class", "explain")


def _twin(name: str) -> Any:
    return getattr(reference, name)


def _ints(values: Any) -> list[int]:
    return [operator.index(value) for value in values]


def _blocks(x: Node, value: Any) -> list[int]:
    return _ints(value) if np.iterable(value) else [operator.index(value)] * (len(x.shape) - 2)


# --- each operator: the nodes that it makes, and keyword arguments for its twin in place of its last own arguments ---


def _depth_to_space(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    block_size, order, layout = own
    made = movements.depth_to_space(inputs[0], _blocks(inputs[0], block_size), order == "DCR", layout == "NHWC")
    return made, {"order": order, "layout": layout}


def _space_to_depth(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    block_size, order, layout = own
    made = movements.space_to_depth(inputs[0], _blocks(inputs[0], block_size), order == "DCR", layout == "NHWC")
    return made, {"order": order, "layout": layout}


def _window(x: Node, offsets: Any, sizes: Any, strides: Any, most: Any) -> Node:
    for axis, (offset, size) in enumerate(zip(_ints(offsets), _ints(sizes), strict=True)):
        x = movements.cut(x, axis, offset, offset + size)
        step = 1 if strides is None else operator.index(strides[axis])
        first = 0 if step > 0 else size - 1
        x = movements.cut(x, axis, first, size if step > 0 else -1, step)
        if most is not None:
            x = movements.cut(x, axis, 0, min(operator.index(most[axis]), x.shape[axis]))
    return x


def _slice(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    offsets, sizes, strides, output_sizes = own
    return _window(inputs[0], offsets, sizes, strides, output_sizes), {"output_sizes": output_sizes}


def _padding(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    start, end, mode, value = own
    x = inputs[0]
    item = trace.lift(np.frombuffer(item_of(value, x.dtype), x.dtype)[0:1].reshape(()))
    for axis, (before, after) in enumerate(zip(_ints(start), _ints(end), strict=True)):
        if mode == "constant":
            x = movements.pad_constant(x, axis, (before, item._node), (after, item._node))
        else:
            x = movements.pad_periodic(x, axis, before, after, mode)
    return x, {"mode": mode, "value": item}


def _tile(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    x = inputs[0]
    for axis, count in enumerate(_ints(own[0])):
        x = movements.tile(x, count, axis) if count != 1 else x
    return x, {}


def _join(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    return movements.join(inputs, operator.index(own[0]) % len(inputs[0].shape)), {}


def _split(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    x, parts, begin = inputs[0], [], 0
    for size in own[1]:
        parts.append(movements.cut(x, operator.index(own[0]) % len(x.shape), begin, begin + size))
        begin += size
    return parts, {}


def _transpose(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    rank = len(inputs[0].shape)
    axes = range(rank)[::-1] if own[0] is None else [axis % rank for axis in _ints(own[0])]
    return movements.transpose(inputs[0], axes), {}


def _upsample(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    scale_size, layout = own
    x = inputs[0]
    factors = _blocks(x, scale_size)
    for axis, factor in enumerate(factors, len(x.shape) - len(factors) - (layout == "NHWC")):
        x = movements.repeat(x, factor, axis) if factor != 1 else x
    return x, {"layout": layout}


def _slice_grad(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    shape, offsets, sizes, strides = own
    x = inputs[0]
    zero = Constant(np.zeros((), x.dtype))
    for axis, (whole, offset, size) in enumerate(zip(_ints(shape), _ints(offsets), _ints(sizes), strict=True)):
        step = 1 if strides is None else operator.index(strides[axis])
        x = movements.dilated(x, axis, abs(step), zero)
        x = movements.cut(x, axis, 0, min(size, x.shape[axis]))
        x = movements.pad_constant(x, axis, (0, zero), (size - x.shape[axis], zero))
        if step < 0:
            x = movements.flip(x, axis)
        x = movements.pad_constant(x, axis, (offset, zero), (whole - offset - size, zero))
    return x, {}


def _reverse_subsequences(trace: Trace, inputs: list[Node], own: list[Any]) -> Any:
    lengths, axis, batch_axis = own
    x = inputs[0]
    axis = operator.index(axis) % len(x.shape)
    counts = np.array(lengths)
    if batch_axis is not None:
        sizes = [1] * len(x.shape)
        sizes[operator.index(batch_axis)] = -1
        counts = counts.reshape(sizes)
    return _reversed(x, counts, axis), {"batch_axis": batch_axis}


def _reversed(x: Node, counts: Any, axis: int) -> Node:
    if x.size == 0:
        return x
    if (counts == counts.flat[0]).all():
        length = min(int(counts.flat[0]), x.shape[axis])
        return movements.join([movements.cut(x, axis, length - 1, -1, -1), movements.cut(x, axis, length, x.shape[axis])], axis)
    cut = next(k for k, size in enumerate(counts.shape) if size > 1)
    parts = [_reversed(movements.cut(x, cut, k, k + 1), counts.take([k], cut), axis) for k in range(x.shape[cut])]
    return movements.join(parts, cut)


_OPERATORS: dict[str, Callable[[Trace, list[Node], list[Any]], Any]] = {
    "reverse_subsequences": _reverse_subsequences,
    "depth_to_space": _depth_to_space,
    "space_to_depth": _space_to_depth,
    "slice": _slice,
    "padding": _padding,
    "tile": _tile,
    "join": _join,
    "split": _split,
    "transpose": _transpose,
    "upsample": _upsample,
    "slice_grad": _slice_grad,
}
