"""Arithmetic of shapes, constants and amounts: onnx's own reference evaluator runs it, on the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import onnx.defs
from onnx import NodeProto, OperatorSetIdProto, TensorProto, helper

if TYPE_CHECKING:
    from dmlops._annotations import Array
    from dmlops.onnx.node import Node

__all__ = ["Folded", "is_exact"]

# Operators on whose results ONNX's text, its reference evaluator and onnxruntime agree to the bit.
_EXACT = frozenset(
    """
    Abs Add And ArgMax ArgMin BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CastLike Ceil Clip ConstantOfShape Div Equal
    Floor Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Neg NonZero Not Or
    ReduceMax ReduceMin ScatterElements ScatterND Sign Size Sub Trilu Xor
    """.split()
)
# Those where they do for integers.
_EXACT_FOR_INTEGERS = frozenset("CumSum Pow Range ReduceProd ReduceSum".split())
_INTEGERS = (
    TensorProto.INT8,
    TensorProto.INT16,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.UINT8,
    TensorProto.UINT16,
    TensorProto.UINT32,
    TensorProto.UINT64,
)


def is_exact(node: Node, kind: int) -> bool:
    """Whether a node's result is the same wherever it is computed. `kind` is the type of its first operand."""
    if node.domain or node.version == 0 or node.opset > onnx.defs.onnx_opset_version():
        return False
    if node.operator in _EXACT_FOR_INTEGERS:
        return kind in _INTEGERS
    return node.operator in _EXACT


class Folded:
    """A node that the reference evaluator runs."""

    def __init__(self, proto: NodeProto, opsets: Iterable[OperatorSetIdProto]) -> None:
        self._names = [name for name in proto.input if name]
        inputs = [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(self._names)]
        outputs = [helper.make_empty_tensor_value_info(name) for name in proto.output if name]
        self._model = helper.make_model(helper.make_graph([proto], "folded", inputs, outputs), opset_imports=list(opsets))
        self._evaluator: Any = None

    def __call__(self, operands: Sequence[Array | None]) -> tuple[Array, ...]:
        """The node's results for its operands, of which those that are left out are None."""
        if self._evaluator is None:
            from onnx.reference import ReferenceEvaluator  # takes long to import

            self._evaluator = ReferenceEvaluator(self._model)
        given = [operand for operand in operands if operand is not None]
        results = self._evaluator.run(None, dict(zip(self._names, given, strict=True)))
        return tuple(results)
