"""Arithmetic of bytes with constants, which becomes a table: Cast, Add, Sub, Mul, Div, Clip and DequantizeLinear.

All that nodes can make of bytes is computed when a model is read. They are maps as long as these are numbers, neither -0 nor
subnormal: of such numbers NumPy and onnxruntime make the same bits, also where the latter leaves out what adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import onnx.defs
from onnx import TensorProto, helper

from dmlops.onnx.inference import Shape
from dmlops.onnx.node import Node, positive
from dmlops.onnx.operator_table import cast_type

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = ["Map", "maps_of"]

_BYTES = (TensorProto.UINT8, TensorProto.INT8, TensorProto.BOOL)
_QUANTIZED = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
_MOST_VALUES = 2**18  # of a table: at most half of the bytes that a fused function's may have
_MOST_AXES = 31  # of constants


class Map(NamedTuple):
    """What a node makes of each element: a function of it and of constants that are broadcast against it."""

    function: Callable[..., Any]
    constants: Sequence[Array] = ()

    def __call__(self, a: Any) -> Any:
        return self.function(a, *self.constants)


# --- each operator: its map of arrays of a dtype and a rank, which may be unknown; None where it has none ---------------------


def _cast(node: Node, dtype: np.dtype[Any], rank: int | None) -> Map | None:
    to = helper.tensor_dtype_to_np_dtype(cast_type(node))
    return Map(lambda a: a.astype(to)) if to.isbuiltin == 1 and to.kind in ("f" if dtype.kind == "f" else "biuf") else None


def _arithmetic(function: Callable[[Any, Any], Any]) -> Callable[..., Map | None]:
    def made(node: Node, dtype: np.dtype[Any], rank: int | None, constant: Array) -> Map | None:
        return Map(function, (constant,)) if dtype in (np.float32, np.float64) else None

    return made


def _clip(
    node: Node, dtype: np.dtype[Any], rank: int | None, low: Array | None = None, high: Array | None = None
) -> Map | None:
    given = node.attributes  # of versions before 11
    lowest = np.asarray(given.get("min", -np.inf) if low is None else low)
    highest = np.asarray(given.get("max", np.inf) if high is None else high)
    if dtype not in (np.float32, np.float64) or lowest.size != 1 or highest.size != 1:
        return None
    bounds = [bound.reshape(()).astype(dtype) for bound in (lowest, highest)]
    if any(bound == 0 and np.signbit(bound) for bound in bounds):  # of two zeros, either may be what is left
        return None
    return Map(lambda a, low, high: np.minimum(np.maximum(a, low), high), bounds)


def _dequantize(node: Node, dtype: np.dtype[Any], rank: int | None, scale: Array, zero: Array | None = None) -> Map | None:
    if zero is None and dtype == np.int8:  # onnxruntime may take the bytes for unsigned ones
        return None
    given = node.attributes
    shape: tuple[int, ...] = ()
    zero = np.zeros(scale.shape, dtype) if zero is None else zero
    if dtype not in (np.uint8, np.int8) or scale.dtype != np.float32 or given.get("block_size") or given.get("output_dtype"):
        return None
    if scale.size > 1:
        if rank is None or node.version < 13 or scale.ndim > 1 or scale.shape != zero.shape:
            return None
        shape = (-1,) + (1,) * (rank - 1 - positive(given.get("axis", 1), rank))
    constants = zero.astype(np.int32).reshape(shape), scale.reshape(shape)
    return Map(lambda a, zero, scale: (a.astype(np.int32) - zero).astype(np.float32) * scale, constants)


_MAPS: dict[str, tuple[range, Callable[..., Map | None]]] = {  # and the versions of each that are known
    "Add": (range(7, 15), _arithmetic(np.add)),
    "Cast": (range(6, 29), _cast),
    "Clip": (range(6, 14), _clip),
    "DequantizeLinear": (range(10, 29), _dequantize),
    "Div": (range(7, 15), _arithmetic(np.divide)),
    "Mul": (range(7, 15), _arithmetic(np.multiply)),
    "Sub": (range(7, 15), _arithmetic(np.subtract)),
}


class Values(Protocol):
    """A graph, as far as it says what its values are."""

    nodes: list[Node]
    known: set[str]

    def type_of(self, name: str) -> int: ...
    def constant(self, name: str) -> Array | None: ...
    def shape(self, name: str) -> Shape | None: ...


def maps_of(graph: Values) -> dict[str, Map]:
    """The maps of a graph, by their results: those of bytes that are given or moved, and of results of maps."""
    found: dict[str, Map] = {}
    values: dict[str, Array] = {}  # all that such a result can be
    several = sum(node.operator in _QUANTIZED for node in graph.nodes) > 1  # onnxruntime computes with the bytes between them
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            if node.operator not in _MAPS or (several and node.operator in _QUANTIZED):
                continue
            before = values[node.inputs[0]] if node.inputs[0] in values else _all_bytes(graph, node.inputs[0])
            made = None if before is None else _map_of(graph, node, before.dtype)
            if before is None or made is None:
                continue
            sizes = np.broadcast_shapes(before.shape, *(one.shape for one in made.constants))
            if math.prod(sizes) <= _MOST_VALUES and _is_plain(after := made(before)):
                found[node.outputs[0]], values[node.outputs[0]] = made, after
    return found


def _all_bytes(graph: Values, name: str) -> Array | None:
    """All that a value of bytes can be, along the first axis of an array against which constants are broadcast."""
    kind = graph.type_of(name)
    if kind not in _BYTES or name in graph.known:
        return None
    values: Array = np.arange(256, dtype=np.uint8).view(helper.tensor_dtype_to_np_dtype(kind))
    return values.reshape((-1,) + (1,) * _MOST_AXES)


def _map_of(graph: Values, node: Node, dtype: np.dtype[Any]) -> Map | None:
    """The map of a node whose operator has one, if its other operands are constants and its version is known."""
    versions, make = _MAPS[node.operator]
    constants = [graph.constant(name) if name else None for name in node.inputs[1:]]
    if any(name and one is None for name, one in zip(node.inputs[1:], constants, strict=True)):
        return None
    if node.domain or node.version not in versions or node.opset > onnx.defs.onnx_opset_version():
        return None
    shape = graph.shape(node.inputs[0])
    return make(node, dtype, None if shape is None else len(shape), *constants)


def _is_plain(values: Array) -> bool:
    """Whether all are numbers, and none is -0 or subnormal."""
    if values.dtype.kind != "f":
        return True
    sizes = np.abs(values)
    normal = (sizes >= np.finfo(values.dtype).smallest_normal) & (sizes < np.inf)
    return bool((normal | ((values == 0) & ~np.signbit(values))).all())
