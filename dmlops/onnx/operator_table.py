"""What each ONNX operator does with arrays: one function for each, and the table of them.

The functions take NumPy arrays and device arrays alike. A result is a view where one will do: it costs nothing and fuses with
the node that reads it. Others are a call of dmlops on the device of a device array, or on the host for a NumPy array: shapes
and constants need no device. Operands that are shapes, indices or amounts are NumPy arrays; old versions of some operators have
an attribute of the same name in their place.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import dmlops
from dmlops.onnx.indexing import gather, gather_elements, gather_nd, scatter_elements, scatter_nd, where
from dmlops.onnx.movements import device_of, expanded, repeated, reshape
from dmlops.onnx.node import Node, axes_of, ints_of, positive
from dmlops.onnx.resize import NEAREST, resize, upsample

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array, PaddingMode

__all__ = ["OPERATORS", "UNFUSED", "VIEWS", "Operator", "cast_type"]


@dataclasses.dataclass(frozen=True)
class Operator:
    """How to run an operator, the newest of its definitions that `run` knows, and which values its attributes may have.

    `doubt` says why a node is left to onnxruntime all the same, if it is. It gets the operands behind the first, as far as they
    are constants; others are None.
    """

    run: Callable[..., Any]
    newest: int
    allowed: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    doubt: Callable[..., str | None] | None = None


def cast_type(node: Node) -> int:
    """The type that a Cast converts to, one of ``TensorProto.DataType``."""
    to = node.attributes["to"]
    return int(TensorProto.DataType.Value(to) if isinstance(to, str) else to)


def _cast(node: Node, a: AnyArray) -> AnyArray:
    # Other arrays are of that type already: graph.py refuses other Casts of data.
    return a.astype(helper.tensor_dtype_to_np_dtype(cast_type(node))) if isinstance(a, np.ndarray) else a


def _concat(node: Node, *parts: Any) -> AnyArray:  # all NumPy arrays, all device arrays, or traced arrays and constants
    joined, axis = parts[0], node.attributes.get("axis", 1)
    if len(parts) > 1:
        joined = dmlops.join(parts, axis, device=device_of(*parts))
    elif joined.ndim:
        positive(axis, joined.ndim)
    return joined  # type: ignore[no-any-return]


def _constant(node: Node) -> Array:
    ((name, value),) = node.attributes.items()
    if name == "value":
        return numpy_helper.to_array(value)
    return np.array(value, np.float32 if name.startswith("value_float") else np.int64)


def _depth_to_space(node: Node, a: AnyArray) -> AnyArray:
    return dmlops.depth_to_space(a, node.attributes["blocksize"], order=node.attributes.get("mode", "DCR"), device=device_of(a))


def _constant_of_shape(node: Node, shape: Array) -> Array:
    value = node.attributes.get("value")
    item = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value)
    return np.full(tuple(shape.tolist()), item.reshape(-1)[0])


def _expand(node: Node, a: AnyArray, shape: Array) -> AnyArray:
    return expanded(a, shape.ravel().tolist())


def _eye_like(node: Node, a: AnyArray) -> Array:
    kind = node.attributes.get("dtype")
    if a.ndim != 2:
        raise ValueError(f"the input must be a matrix, not of the shape {list(a.shape)}")
    dtype = a.dtype if kind is None else helper.tensor_dtype_to_np_dtype(kind)
    rows, columns = a.shape
    ones: Array = np.eye(rows, columns, node.attributes.get("k", 0), dtype)
    return ones


def _flatten(node: Node, a: AnyArray) -> AnyArray:
    axis = node.attributes.get("axis", 1)
    axis = axis if axis == a.ndim else positive(axis, a.ndim)
    return reshape(a, (math.prod(a.shape[:axis]), math.prod(a.shape[axis:])))


def _identity(node: Node, a: AnyArray) -> AnyArray:
    return a


def _one_hot(node: Node, indices: Any, depth: Array, values: Array) -> AnyArray:
    size, axis = int(depth.item()), node.attributes.get("axis", -1)
    off, on = values
    here = indices.numpy() if isinstance(indices, dmlops.DeviceArray) else indices
    whole = here.astype(np.int64)  # any numbers are allowed
    if node.version < 11:  # no index counts from the end
        whole = np.where(whole < 0, size, whole)
    return dmlops.one_hot(whole, size, axis=axis, on=on, off=off, dtype=values.dtype, device="host")


def _pad(node: Node, a: AnyArray, pads: Array | None = None, value: Array | None = None, axes: Array | None = None) -> AnyArray:
    if pads is not None and pads.ndim == 2 and len(pads) == 1:  # an old form
        pads = pads[0]
    amounts = ints_of(node, pads, "pads" if node.version > 1 else "paddings") or []
    padded = axes_of(node, axes, a.ndim) if axes is not None else list(range(a.ndim))
    if padded is None or len(amounts) != 2 * len(padded):
        raise ValueError(f"pads must have two entries for each of {a.ndim if padded is None else len(padded)} axes")
    before, after = [0] * a.ndim, [0] * a.ndim
    for axis, first, last in zip(padded, amounts[: len(padded)], amounts[len(padded) :], strict=True):
        before[axis], after[axis] = first, last
    mode = _PADDING_MODES[node.attributes.get("mode", "constant")]
    if 0 in a.shape and all(size or first + last <= 0 for size, first, last in zip(a.shape, before, after, strict=True)):
        mode = "constant"  # the result has no elements, and needs none
    # A negative amount crops: what lies between `first` and `stop` stays.
    key = []
    for axis, (size, first, last) in enumerate(zip(a.shape, before, after, strict=True)):
        if size + first + last < 0:
            raise ValueError(f"pads {first} and {last} crop more than the {size} elements of axis {axis}")
        begin, stop = max(-first, 0), size - max(-last, 0)
        if begin > stop:  # one side crops elements that the other adds
            begin, stop, first, last = 0, 0, size + first + last, 0
        key.append(slice(begin, stop))
        before[axis], after[axis] = max(first, 0), max(last, 0)
    a = a[tuple(key)]
    if not any(before + after):
        return a
    filling: Any = np.asarray(node.attributes.get("value", 0) if value is None else value).reshape(()).astype(a.dtype)[()]
    return dmlops.padding(a, before, after, mode=mode, value=filling, device=device_of(a))


def _range(node: Node, start: Array, limit: Array, delta: Array) -> Array:
    first, end, step = start.item(), limit.item(), delta.item()
    whole = start.dtype.kind in "iu"
    count = len(range(first, end, step)) if whole else max(math.ceil((end - first) / step), 0)
    values: Array = (first + np.arange(count) * step).astype(start.dtype)
    return values


def _reshape_to(node: Node, a: AnyArray, shape: Array | None = None) -> AnyArray:
    sizes = ints_of(node, shape, "shape") or []
    if not node.attributes.get("allowzero", 0):
        if 0 in sizes[a.ndim :]:
            raise ValueError(f"shape {sizes} copies a size of {a.shape} that is not there")
        sizes = [a.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return reshape(a, sizes)


def _reverse_sequence(node: Node, a: AnyArray, lengths: Array) -> AnyArray:
    axis, batch_axis = node.attributes.get("time_axis", 0), node.attributes.get("batch_axis", 1)
    return dmlops.reverse_subsequences(a, lengths, axis, batch_axis=batch_axis, device=device_of(a))


def _shape(node: Node, a: AnyArray) -> Array:
    return np.array(a.shape[node.attributes.get("start", 0) : node.attributes.get("end")], np.int64)


def _size(node: Node, a: AnyArray) -> Array:
    return np.array(a.size, np.int64)


def _slice(
    node: Node,
    a: AnyArray,
    starts: Array | None = None,
    ends: Array | None = None,
    axes: Array | None = None,
    steps: Array | None = None,
) -> AnyArray:
    first, last = ints_of(node, starts, "starts") or [], ints_of(node, ends, "ends") or []
    along, strides = axes_of(node, axes, a.ndim), ints_of(node, steps, "steps")
    along = list(range(len(first))) if along is None else along
    strides = [1] * len(first) if strides is None else strides
    if not len(first) == len(last) == len(along) == len(strides):
        counts = f"{len(first)}, {len(last)}, {len(along)} and {len(strides)}"
        raise ValueError(f"starts, ends, axes and steps must have as many entries each, not {counts}")
    key = [slice(None)] * a.ndim
    for axis, start, end, step in zip(along, first, last, strides, strict=True):
        size = a.shape[axis]
        # NumPy clamps a start in front of the array to -1 for negative steps, ONNX to 0.
        start = max(start + size if start < 0 else start, 0)
        key[axis] = slice(start, end if end >= -size else None if step < 0 else 0, step)
    return a[tuple(key)]


def _space_to_depth(node: Node, a: AnyArray) -> AnyArray:
    return dmlops.space_to_depth(a, node.attributes["blocksize"], order=node.attributes.get("mode", "DCR"), device=device_of(a))


def _split(node: Node, a: AnyArray, parts: Array | None = None) -> tuple[AnyArray, ...]:
    axis = positive(node.attributes.get("axis", 0), a.ndim)
    size, count = a.shape[axis], len(node.outputs)
    sizes = ints_of(node, parts, "split")
    if node.attributes.get("num_outputs", count) != count:
        raise ValueError(f"num_outputs is {node.attributes['num_outputs']}, but there are {count} outputs")
    if sizes is None:
        uneven = "num_outputs" in node.attributes  # the last may be smaller
        each = -(-size // count) if uneven else size // count
        sizes = [each] * (count - 1) + [size - each * (count - 1) if uneven else each]
    if sum(sizes) != size or len(sizes) != count or min(sizes) < 0:
        raise ValueError(f"axis {axis} of size {size} cannot be split into {sizes} for {count} outputs")
    before = (slice(None),) * axis
    return tuple(a[(*before, slice(end - part, end))] for end, part in zip(itertools.accumulate(sizes), sizes, strict=True))


def _squeeze(node: Node, a: AnyArray, axes: Array | None = None) -> AnyArray:
    dropped = axes_of(node, axes, a.ndim, repeats=True)
    if dropped is None:
        dropped = [axis for axis, size in enumerate(a.shape) if size == 1]
    if any(a.shape[axis] != 1 for axis in dropped):
        raise ValueError(f"axes {dropped} of shape {a.shape} are not all of size 1")
    return a.reshape(tuple(size for axis, size in enumerate(a.shape) if axis not in dropped))


def _tile(node: Node, a: AnyArray, repeats: Array, axis: Array | None = None) -> AnyArray:
    if axis is None:
        return repeated(a, ints_of(node, repeats, "repeats") or [])
    return repeated(a, [int(repeats.item()) if k == axis.item() else 1 for k in range(a.ndim)])


def _transpose(node: Node, a: AnyArray) -> AnyArray:
    return a.transpose(tuple(node.attributes.get("perm", range(a.ndim)[::-1])))


def _unsqueeze(node: Node, a: AnyArray, axes: Array | None = None) -> AnyArray:
    axes = None if axes is None else np.atleast_1d(axes)  # onnxruntime takes a scalar, too
    new = ints_of(node, axes, "axes") or []
    rank = a.ndim + len(new)
    places, sizes = axes_of(node, axes, rank) or [], iter(a.shape)
    return a.reshape(tuple(1 if axis in places else next(sizes) for axis in range(rank)))


_PADDING_MODES: dict[str, PaddingMode] = {"constant": "constant", "reflect": "reflection", "edge": "edge", "wrap": "wrap"}
_ORDERS = {"mode": ("DCR", "CRD")}
_NO_REDUCTION = {"reduction": ("none",)}

OPERATORS = {
    "Cast": Operator(_cast, 28),
    "Concat": Operator(_concat, 13),
    "ConstantOfShape": Operator(_constant_of_shape, 25),
    "Constant": Operator(_constant, 25, {"sparse_value": (), "value_string": (), "value_strings": ()}),
    "DepthToSpace": Operator(_depth_to_space, 28, _ORDERS),
    "Expand": Operator(_expand, 13),
    "EyeLike": Operator(_eye_like, 22),
    "Flatten": Operator(_flatten, 25),
    "Gather": Operator(gather, 13),
    "GatherElements": Operator(gather_elements, 13),
    "GatherND": Operator(gather_nd, 13),
    "Identity": Operator(_identity, 25),
    "OneHot": Operator(_one_hot, 28),
    "Pad": Operator(_pad, 25, {"mode": tuple(_PADDING_MODES)}),
    "Range": Operator(_range, 27),
    "Reshape": Operator(_reshape_to, 25),
    "Resize": Operator(resize, 19, NEAREST),
    "ReverseSequence": Operator(_reverse_sequence, 28),
    "Scatter": Operator(scatter_elements, 9),
    "ScatterElements": Operator(scatter_elements, 18, _NO_REDUCTION),
    "ScatterND": Operator(scatter_nd, 18, _NO_REDUCTION),
    "Shape": Operator(_shape, 25),
    "Size": Operator(_size, 25),
    "Slice": Operator(_slice, 13),
    "SpaceToDepth": Operator(_space_to_depth, 28, _ORDERS),
    "Split": Operator(_split, 18),
    "Squeeze": Operator(_squeeze, 25),
    "Tile": Operator(_tile, 13),
    "Transpose": Operator(_transpose, 25),
    "Unsqueeze": Operator(_unsqueeze, 25),
    "Upsample": Operator(upsample, 9, {"mode": ("nearest",)}),
    "Where": Operator(where, 16),
}

# Operators that move no element of an array that is contiguous.
VIEWS = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})

# Operators that are no part of a fused function.
UNFUSED = frozenset({"Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "Where"})
