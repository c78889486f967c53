"""What each ONNX operator does with arrays: one function for each, and the table of them.

The functions take NumPy arrays and device arrays alike. A result is a view where one will do: it costs nothing and fuses with
the node that reads it. Others are a call of dmlops on the device of a device array, or on the host for a NumPy array: shapes and
constants need no device. Operands that are shapes, indices or amounts are NumPy arrays; old versions of some operators have an
attribute of the same name in their place.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import dmlops

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array, PaddingMode

__all__ = ["OPERATORS", "VIEWS", "Node", "Operator"]

Runs: TypeAlias = tuple[tuple[slice, slice], ...]


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of a graph. `version` is the opset that its operator's definition came with; `opset` is the model's."""

    name: str
    operator: str
    domain: str
    opset: int
    version: int
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        operator = f"{self.domain}.{self.operator}" if self.domain else self.operator
        return f"node {self.name or f'of output {next(iter(self.outputs), None)}'!r} ({operator}, opset {self.opset})"


@dataclasses.dataclass(frozen=True)
class Operator:
    """How to run an operator, the newest of its definitions that `run` knows, and which values its attributes may have."""

    run: Callable[..., Any]
    newest: int
    allowed: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)


# --- helpers ---------------------------------------------------------------------------------------------------------


def _ints(node: Node, operand: Array | None, attribute: str) -> list[int] | None:
    """The operand as a list, or the attribute that older versions have in its place; None if there is neither."""
    found = node.attributes.get(attribute) if operand is None else operand
    return None if found is None else [int(value) for value in np.asarray(found).reshape(-1)]


def _axes(node: Node, operand: Array | None, rank: int) -> list[int] | None:
    axes = _ints(node, operand, "axes")
    return None if axes is None else [_axis(axis, rank) for axis in axes]


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def _empty(like: AnyArray, shape: Sequence[int]) -> AnyArray:
    if isinstance(like, np.ndarray):
        return np.empty(tuple(shape), like.dtype)
    return dmlops.empty(tuple(shape), like.dtype, device=like.device)


def _device(a: AnyArray) -> str | None:
    """Where the operators of dmlops run: NumPy arrays are shapes and constants here, which stay on the host."""
    return "host" if isinstance(a, np.ndarray) else None


def _reshape(a: AnyArray, shape: Sequence[int]) -> AnyArray:
    try:
        return a.reshape(tuple(shape))
    except ValueError:  # a view whose strides do not allow it, or a shape of another size, which raises again
        return a.copy().reshape(tuple(shape))


def _along(rank: int, axis: int, key: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (key,) + (slice(None),) * (rank - axis - 1)


def _repeated(a: AnyArray, repeats: Sequence[int]) -> AnyArray:
    return a if list(repeats) == [1] * a.ndim else dmlops.tile(a, repeats, device=_device(a))


def _runs(index: Array) -> Runs:
    """Cut an index into arithmetic progressions: slices of the result and of the source, of size 1 for a repeated element."""
    steps = np.diff(index)
    ends = np.append(np.flatnonzero(np.diff(steps)) + 1, len(steps))  # where each stretch of equal steps ends
    runs, begin = [], 0
    while begin < len(index):
        end, first, step = len(index), int(index[begin]), 1
        if begin < len(steps):
            end, step = int(ends[np.searchsorted(ends, begin, "right")]) + 1, int(steps[begin])
        stop = first + (end - begin) * step
        runs.append((slice(begin, end), slice(first, None if stop < 0 else stop, step) if step else slice(first, first + 1)))
        begin = end
    return tuple(runs)


def _take(a: AnyArray, runs: Mapping[int, Runs]) -> AnyArray:
    """The elements at the given indices along each axis, as ``a[numpy.ix_(...)]`` has them: one copy for each run of them."""
    if len(runs) > 1 and math.prod(map(len, runs.values())) > 64:  # fewer copies if each axis has a pass of its own
        for axis in runs:
            a = _take(a, {axis: runs[axis]})
        return a
    shape = list(a.shape)
    for axis, pieces in runs.items():
        shape[axis] = pieces[-1][0].stop if pieces else 0
    out = None
    for combination in itertools.product(*runs.values()):
        target, source = [slice(None)] * a.ndim, [slice(None)] * a.ndim
        for axis, piece in zip(runs, combination, strict=True):
            target[axis], source[axis] = piece
        view = a[tuple(source)]
        if out is None and view.shape == tuple(shape):
            return view
        out = _empty(a, shape) if out is None else out
        out[tuple(target)] = view
    return _empty(a, shape) if out is None else out


# --- operators -------------------------------------------------------------------------------------------------------


def _cast(node: Node, a: Array) -> Array:
    to = node.attributes["to"]
    return a.astype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(to) if isinstance(to, str) else to))


def _concat(node: Node, *parts: Any) -> AnyArray:  # all NumPy arrays, or all device arrays
    joined: AnyArray = parts[0]
    if len(parts) > 1:
        joined = dmlops.join(parts, node.attributes.get("axis", 1), device=_device(parts[0]))
    return joined


def _constant(node: Node) -> Array:
    ((name, value),) = node.attributes.items()
    if name == "value":
        return numpy_helper.to_array(value)
    return np.array(value, np.float32 if name.startswith("value_float") else np.int64)


def _depth_to_space(node: Node, a: AnyArray) -> AnyArray:
    return dmlops.depth_to_space(a, node.attributes["blocksize"], order=node.attributes.get("mode", "DCR"), device=_device(a))


def _expand(node: Node, a: AnyArray, shape: Array) -> AnyArray:
    wanted = np.broadcast_shapes(a.shape, tuple(shape.tolist()))
    a = a[(None,) * (len(wanted) - a.ndim) + (...,)]
    return _repeated(a, [size if old == 1 else 1 for old, size in zip(a.shape, wanted, strict=True)])


def _flatten(node: Node, a: AnyArray) -> AnyArray:
    axis = node.attributes.get("axis", 1)
    axis += a.ndim if axis < 0 else 0
    return _reshape(a, (math.prod(a.shape[:axis]), math.prod(a.shape[axis:])))


def _gather(node: Node, a: AnyArray, index: Array) -> AnyArray:
    axis = _axis(node.attributes.get("axis", 0), a.ndim)
    size = a.shape[axis]
    if index.size and not (-size <= index.min() and index.max() < size):
        raise IndexError(f"an index is out of range for axis {axis} of size {size}")
    index = index.astype(np.int64)
    taken = _take(a, {axis: _runs(np.where(index < 0, index + size, index).reshape(-1))})
    return _reshape(taken, a.shape[:axis] + index.shape + a.shape[axis + 1 :])


def _identity(node: Node, a: AnyArray) -> AnyArray:
    return a


def _pad(node: Node, a: AnyArray, pads: Array | None = None, value: Array | None = None, axes: Array | None = None) -> AnyArray:
    amounts = _ints(node, pads, "pads" if node.version > 1 else "paddings") or []
    padded = _axes(node, axes, a.ndim) if axes is not None else list(range(a.ndim))
    if padded is None or len(amounts) != 2 * len(padded):
        raise ValueError(f"pads must have two entries for each of {a.ndim if padded is None else len(padded)} axes")
    before, after = [0] * a.ndim, [0] * a.ndim
    for axis, first, last in zip(padded, amounts[: len(padded)], amounts[len(padded) :], strict=True):
        before[axis], after[axis] = first, last
    # A negative amount crops.
    a = a[tuple(slice(max(-b, 0), max(n - max(-e, 0), 0)) for b, n, e in zip(before, a.shape, after, strict=True))]
    before, after = [max(b, 0) for b in before], [max(e, 0) for e in after]
    if not any(before + after):
        return a
    filling: Any = np.asarray(node.attributes.get("value", 0) if value is None else value).reshape(()).astype(a.dtype)[()]
    mode = _PADDING_MODES[node.attributes.get("mode", "constant")]
    return dmlops.padding(a, before, after, mode=mode, value=filling, device=_device(a))


def _reshape_to(node: Node, a: AnyArray, shape: Array | None = None) -> AnyArray:
    sizes = _ints(node, shape, "shape") or []
    if not node.attributes.get("allowzero", 0):
        sizes = [a.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return _reshape(a, sizes)


def _resize(node: Node, a: AnyArray, *operands: Array | None) -> AnyArray:
    if node.version > 10:
        operands = operands[1:]  # the region of interest is for modes that are not allowed here
    scales, sizes = ((None if operand is None or operand.size == 0 else operand) for operand in (*operands, None, None)[:2])
    axes = _axes(node, None, a.ndim) or list(range(a.ndim))
    old = [a.shape[axis] for axis in axes]
    if scales is not None:
        factors = [_factor(float(scale)) for scale in scales]
        new = [math.floor(size * over / under) for size, (over, under) in zip(old, factors, strict=True)]
    elif sizes is not None:
        new = sizes.tolist()
        factors = [(float(result), float(size)) for result, size in zip(new, old, strict=True)]
        policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            over, under = (min if policy == "not_larger" else max)(factors, key=lambda factor: factor[0] / factor[1])
            factors = [(over, under)] * len(old)
            new = [math.floor(size * over / under + 0.5) for size in old]
    else:
        raise ValueError("scales or sizes must be given")
    if new == old:
        return a
    runs, whole = {}, [1] * a.ndim
    for axis, size, result, factor in zip(axes, old, new, factors, strict=True):
        index = _nearest_index(node, size, result, *factor)
        times = result // size if size else 1
        if times and np.array_equal(index, np.arange(size * times) // times):
            whole[axis] = times
        else:
            runs[axis] = _runs(index)
    a = _take(a, runs) if runs else a
    # To upsample, every axis is a spatial one; the new first axis is that of channels.
    return a if set(whole) <= {1} else dmlops.upsample(a[None], whole, device=_device(a))[0]


def _factor(scale: float) -> tuple[float, float]:
    """A scale in single precision as a quotient; the inverse of an integer is exact."""
    under = float(round(1 / scale)) if scale > 0 else 0.0
    return (1.0, under) if under and np.float32(1 / under) == np.float32(scale) else (scale, 1.0)


def _nearest_index(node: Node, size: int, result: int, over: float, under: float) -> Array:
    """For each element of the result, the nearest one of the source; the axis is scaled by ``over / under``."""
    x: Any = np.arange(result, dtype=np.float64)
    mode = node.attributes.get("coordinate_transformation_mode", "half_pixel" if node.version > 10 else "asymmetric")
    if mode == "asymmetric" or over == under:
        x = x * under / over
    elif mode == "align_corners":
        x = x * (size - 1) / max(result - 1, 1)
    elif mode == "tf_half_pixel_for_nn":
        x = (x + 0.5) * under / over
    elif mode == "pytorch_half_pixel" and result <= 1:
        x = np.zeros_like(x)
    else:
        shift = size / 2 - result * under / over / 2 if mode == "half_pixel_symmetric" else 0.0
        x = (x + 0.5) * under / over - 0.5 + shift
    rounding = node.attributes.get("nearest_mode", "round_prefer_floor")
    if node.version <= 10:
        rounding = "ceil" if over < under else "floor"
    if rounding == "floor":
        x = np.floor(x)
    elif rounding == "ceil":
        x = np.ceil(x)
    else:
        x = np.ceil(x - 0.5) if rounding == "round_prefer_floor" else np.floor(x + 0.5)
    index: Array = x.astype(np.int64).clip(0, max(size - 1, 0))
    return index


def _reverse_sequence(node: Node, a: AnyArray, lengths: Array) -> AnyArray:
    axis, batch_axis = node.attributes.get("time_axis", 0), node.attributes.get("batch_axis", 1)
    return dmlops.reverse_subsequences(a, lengths, axis, batch_axis=batch_axis, device=_device(a))


def _shape(node: Node, a: AnyArray) -> Array:
    return np.array(a.shape[node.attributes.get("start", 0) : node.attributes.get("end")], np.int64)


def _slice(
    node: Node,
    a: AnyArray,
    starts: Array | None = None,
    ends: Array | None = None,
    axes: Array | None = None,
    steps: Array | None = None,
) -> AnyArray:
    first, last = _ints(node, starts, "starts") or [], _ints(node, ends, "ends") or []
    along = _axes(node, axes, a.ndim) or list(range(len(first)))
    key = [slice(None)] * a.ndim
    for axis, start, end, step in zip(along, first, last, _ints(node, steps, "steps") or [1] * len(first), strict=True):
        size = a.shape[axis]
        # NumPy clamps a start in front of the array to -1 for negative steps, ONNX to 0.
        start = max(start + size if start < 0 else start, 0)
        key[axis] = slice(start, end if end >= -size else None if step < 0 else 0, step)
    return a[tuple(key)]


def _space_to_depth(node: Node, a: AnyArray) -> AnyArray:
    return dmlops.space_to_depth(a, node.attributes["blocksize"], order=node.attributes.get("mode", "DCR"), device=_device(a))


def _split(node: Node, a: AnyArray, parts: Array | None = None) -> tuple[AnyArray, ...]:
    axis = _axis(node.attributes.get("axis", 0), a.ndim)
    size, count = a.shape[axis], len(node.outputs)
    sizes = _ints(node, parts, "split")
    if sizes is None:
        each = -(-size // count) if node.version >= 18 else size // count  # from 18 on the last may be smaller
        sizes = [max(min(each, size - each * k), 0) for k in range(count)]
    if sum(sizes) != size or len(sizes) != count or min(sizes) < 0:
        raise ValueError(f"axis {axis} of size {size} cannot be split into {sizes} for {count} outputs")
    ends = list(itertools.accumulate(sizes))
    return tuple(a[_along(a.ndim, axis, slice(end - part, end))] for end, part in zip(ends, sizes, strict=True))


def _squeeze(node: Node, a: AnyArray, axes: Array | None = None) -> AnyArray:
    dropped = _axes(node, axes, a.ndim)
    if dropped is None:
        dropped = [axis for axis, size in enumerate(a.shape) if size == 1]
    if any(a.shape[axis] != 1 for axis in dropped):
        raise ValueError(f"axes {dropped} of shape {a.shape} are not all of size 1")
    return a.reshape(tuple(size for axis, size in enumerate(a.shape) if axis not in dropped))


def _tile(node: Node, a: AnyArray, repeats: Array, axis: Array | None = None) -> AnyArray:
    if axis is None:
        return _repeated(a, repeats.tolist())
    return _repeated(a, [int(repeats.item()) if k == axis.item() else 1 for k in range(a.ndim)])


def _transpose(node: Node, a: AnyArray) -> AnyArray:
    return a.transpose(tuple(node.attributes.get("perm", range(a.ndim)[::-1])))


def _unsqueeze(node: Node, a: AnyArray, axes: Array | None = None) -> AnyArray:
    new = _ints(node, axes, "axes") or []
    rank = a.ndim + len(new)
    places, sizes = {_axis(axis, rank) for axis in new}, iter(a.shape)
    if len(places) != len(new):
        raise ValueError(f"axes {new} name an axis twice")
    return a.reshape(tuple(1 if axis in places else next(sizes) for axis in range(rank)))


def _upsample(node: Node, a: AnyArray, scales: Array | None = None) -> AnyArray:
    if scales is None:
        given = node.attributes
        factors = given["scales"] if node.version > 1 else [1, 1, given["height_scale"], given["width_scale"]]
        scales = np.array(factors, np.float32)
    return _resize(node, a, scales)


_PADDING_MODES: dict[str, PaddingMode] = {"constant": "constant", "reflect": "reflection", "edge": "edge", "wrap": "wrap"}
_ORDERS = {"mode": ("DCR", "CRD")}
_NEAREST = {
    "mode": ("nearest",),
    "antialias": (0,),
    "coordinate_transformation_mode": (
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
}

OPERATORS = {
    "Cast": Operator(_cast, 28),
    "Concat": Operator(_concat, 13),
    "Constant": Operator(_constant, 25, {"sparse_value": (), "value_string": (), "value_strings": ()}),
    "DepthToSpace": Operator(_depth_to_space, 28, _ORDERS),
    "Expand": Operator(_expand, 13),
    "Flatten": Operator(_flatten, 25),
    "Gather": Operator(_gather, 13),
    "Identity": Operator(_identity, 25),
    "Pad": Operator(_pad, 25, {"mode": tuple(_PADDING_MODES)}),
    "Reshape": Operator(_reshape_to, 25),
    "Resize": Operator(_resize, 19, _NEAREST),
    "ReverseSequence": Operator(_reverse_sequence, 28),
    "Shape": Operator(_shape, 25),
    "Slice": Operator(_slice, 13),
    "SpaceToDepth": Operator(_space_to_depth, 28, _ORDERS),
    "Split": Operator(_split, 18),
    "Squeeze": Operator(_squeeze, 25),
    "Tile": Operator(_tile, 13),
    "Transpose": Operator(_transpose, 25),
    "Unsqueeze": Operator(_unsqueeze, 25),
    "Upsample": Operator(_upsample, 9, {"mode": ("nearest",)}),
}

# Operators that move no element of an array that is contiguous.
VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
