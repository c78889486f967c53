"""A model's graph: which nodes only move data, and which values are shapes on the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs
from onnx import ModelProto, NodeProto, TensorProto, TypeProto, helper, numpy_helper
from onnx.external_data_helper import uses_external_data

from dmlops.onnx.folding import Folded, is_exact
from dmlops.onnx.inference import Shape, inferred_types, is_plain
from dmlops.onnx.maps import maps_of
from dmlops.onnx.metadata import size_of
from dmlops.onnx.node import FROM_SHAPES, Node, is_data
from dmlops.onnx.operator_table import OPERATORS, Operator, cast_type

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = ["Graph", "UnsupportedNodeError"]


class UnsupportedNodeError(ValueError):
    """A model holds a node that is no movement of data, or that this version of dmlops does not know.

    Attributes
    ----------
    name, op_type, domain : str
        The node's name, its operator and the operator's domain, which is empty for ONNX's own.
    opset : int
        The version of that domain's operators that the model imports.
    """

    def __init__(self, node: Node, reason: str, others: int = 0) -> None:
        self.name, self.op_type, self.domain, self.opset = node.name, node.operator, node.domain, node.opset
        more = f", and {others} more cannot be run" if others else ""
        super().__init__(f"{node} {reason}{more}; dmlops.onnx.Session leaves such nodes to onnxruntime")
        self._arguments = node, reason, others

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


class Graph:
    """What can be said about a model without running it.

    Operands that are shapes, indices or amounts are needed on the host, and so is whatever they are computed from. Those values
    stay NumPy arrays, and the nodes that compute them run on the host. All other values are device arrays.

    Parameters
    ----------
    model : onnx.ModelProto
        The model.
    operators : dict
        How each operator is run: ``OPERATORS``, or ``ONNXRUNTIME``, which follows onnxruntime.
    mapped : bool, optional
        Whether maps of bytes are run, too.

    Attributes
    ----------
    nodes : list of Node
        In the model's order, which is topological.
    inputs, outputs : dict
        The type of each input that is no initializer, and of each output.
    types : dict
        The type of each value, where it is known. Sizes are those that follow from the inputs' sizes: what a model declares of
        other values may be out of date, and onnxruntime does not insist on it.
    initializers : dict
        The initializers' messages.
    problems : dict
        For each node that cannot be run here, by its position: why.
    known : set of str
        Values that depend on constants and shapes only.
    folded : dict of Folded
        For each node of other operators that computes known or demanded values, by the name of its first output: how it is
        run.
    demanded : set of str
        Values that other nodes need on the host.
    maps : dict of Map
        For each result of a map, how it is made. There are none where an input is needed on the host.
    """

    def __init__(self, model: ModelProto, operators: Mapping[str, Operator] = OPERATORS, mapped: bool = False) -> None:
        if not isinstance(model, ModelProto):
            raise TypeError(f"model must be an onnx.ModelProto, not {type(model).__name__}: onnx.load reads one from a file")
        graph = model.graph
        opsets = {"" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in model.opset_import}
        self.operators = operators
        self.nodes = [_node(proto, opsets) for proto in graph.node]
        self._constant_nodes = {name: node for node in self.nodes if node.operator == "Constant" for name in node.outputs}
        self.initializers = {tensor.name: tensor for tensor in graph.initializer}
        self.inputs = {value.name: value.type for value in graph.input if value.name not in self.initializers}
        self.outputs = {value.name: value.type for value in graph.output}
        self.types = inferred_types(model) | self.inputs
        self._declared = {value.name: value.type for value in graph.value_info} | self.outputs
        not_plain = {name for name, kind in self.inputs.items() if not is_plain(kind)}
        not_plain |= {tensor.values.name for tensor in graph.sparse_initializer}
        self.problems = {k: reason for k, node in enumerate(self.nodes) if (reason := self._problem(node, not_plain))}
        self.known, self.folded = set(self.initializers), self._folded(model, set() if mapped else set(self.inputs))
        self.demanded = self._demanded(model)
        for k, node in enumerate(self.nodes):
            if k in self.problems:
                continue
            if node.operator in FROM_SHAPES or all(name in self.known for name in node.inputs if name):
                self.known.update(node.outputs)
            elif node.operator == "Cast" and not self.on_host(node) and self.type_of(node.inputs[0]) != cast_type(node):
                self.problems[k] = "converts data; only shapes are converted here"
        self.maps = maps_of(self) if mapped and self.demanded.isdisjoint(self.inputs) else {}
        if not self.demanded.isdisjoint(self.maps):
            self.maps = {}
        self.problems = {k: reason for k, reason in self.problems.items() if not self.is_map(self.nodes[k])}

    def _problem(self, node: Node, not_plain: set[str]) -> str | None:
        """Why a node cannot be run, as far as it alone and constants say."""
        operator = self.operators.get(node.operator)
        if node.domain or operator is None or node.version == 0:
            return "is no movement of data"
        if node.opset > onnx.defs.onnx_opset_version():
            return f"is newer than what the package onnx {onnx.__version__} knows, opset {onnx.defs.onnx_opset_version()}"
        if node.version > operator.newest:
            return f"is newer than what is known here, opset {operator.newest}"
        for name in node.inputs:
            if name in not_plain:
                return f"reads {name!r}, which is no dense tensor of plain elements"
        for name, allowed in operator.allowed.items():
            if name in node.attributes and node.attributes[name] not in allowed:
                return f"has {name}={node.attributes[name]!r}, which is no movement of data"
        return operator.doubt(node, *map(self.constant, node.inputs[1:])) if operator.doubt else None

    def _folded(self, model: ModelProto, conditions: set[str]) -> dict[str, Folded]:
        """How nodes are run that compute of known values, and are no movements. They have no problem then.

        A Where has one if its condition is neither known nor among `conditions`.
        """
        known, folded = set(self.initializers), {}
        for k, node in enumerate(self.nodes):
            if not (node.operator in FROM_SHAPES and k not in self.problems) and not known.issuperset(
                filter(None, node.inputs)
            ):
                if node.operator == "Where" and node.inputs[0] not in known | conditions:
                    self.problems.setdefault(k, "has a condition that is no constant")
                continue
            if k in self.problems and self._is_exact(k):
                folded[node.outputs[0]] = Folded(model.graph.node[k], model.opset_import)
                del self.problems[k]
            if k not in self.problems:
                known.update(node.outputs)
        return folded

    def _demanded(self, model: ModelProto) -> set[str]:
        """What nodes that can be run need on the host. What computes it of such values is folded, too."""
        while True:
            demanded = _demanded(node for k, node in enumerate(self.nodes) if k not in self.problems)
            more = [k for k in self.problems if demanded.intersection(self.nodes[k].outputs) and self._is_exact(k)]
            if not more:
                return demanded
            for k in more:
                self.folded[self.nodes[k].outputs[0]] = Folded(model.graph.node[k], model.opset_import)
                del self.problems[k]

    def _is_exact(self, k: int) -> bool:
        node = self.nodes[k]
        return bool(node.inputs) and is_exact(node, self.type_of(node.inputs[0]))

    def run(self, node: Node, operands: list[Any]) -> tuple[Any, ...]:
        """The results of a node; its operands are arrays, or None where they are left out."""
        if node.outputs[0] in self.folded:
            return self.folded[node.outputs[0]](operands)
        result = self.operators[node.operator].run(node, *operands)
        return result if isinstance(result, tuple) else (result,)

    def constant(self, name: str) -> Array | None:
        """The value of a constant that is in the model itself, and not in a file beside it."""
        if name in self._constant_nodes:
            value: Array = self.operators["Constant"].run(self._constant_nodes[name])
            return value
        tensor = self.initializers.get(name)
        return None if tensor is None or uses_external_data(tensor) else numpy_helper.to_array(tensor)

    def is_map(self, node: Node) -> bool:
        """Whether a node computes of each byte, and constants, what a table can hold."""
        return not self.maps.keys().isdisjoint(node.outputs)

    def on_host(self, node: Node) -> bool:
        """Whether a node computes shapes, indices or amounts, and so runs on the host."""
        return any(name in self.known or name in self.demanded for name in node.outputs)

    def type_of(self, name: str) -> int:
        """The type of a value's elements, one of ``TensorProto.DataType``; UNDEFINED where it is not known."""
        return self.types[name].tensor_type.elem_type if name in self.types else TensorProto.UNDEFINED

    def shape(self, name: str) -> Shape | None:
        """A value's sizes, with None for those that are not known; None if not even the rank is."""
        return _shape_of(self.types[name]) if name in self.types else None

    def declared_before_shapes(self) -> dict[str, Shape]:
        """The declared sizes of what Shape and its like read, and of what that is computed of.

        Where inference knows no size, onnxruntime takes the declared one, and computes Shape before it runs the model.
        """
        read: set[str] = set()
        for node in reversed(self.nodes):
            if node.operator in FROM_SHAPES or read.intersection(node.outputs):
                read.update(node.inputs)
        return {name: shape for name, kind in self._declared.items() if name in read and (shape := _shape_of(kind)) is not None}

    def raise_problem(self) -> None:
        """Raise UnsupportedNodeError for the first node that cannot be run."""
        for k in sorted(self.problems):
            raise UnsupportedNodeError(self.nodes[k], self.problems[k], len(self.problems) - 1)


def _shape_of(kind: TypeProto) -> Shape | None:
    if not kind.tensor_type.HasField("shape"):
        return None
    sizes = map(size_of, kind.tensor_type.shape.dim)
    return tuple(size if isinstance(size, int) else None for size in sizes)


def _node(proto: NodeProto, opsets: Mapping[str, int]) -> Node:
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    opset = opsets.get(domain, 0)
    try:
        version = onnx.defs.get_schema(proto.op_type, opset, domain).since_version
    except onnx.defs.SchemaError:
        version = 0
    attributes = {}
    for attribute in proto.attribute:
        value = helper.get_attribute_value(attribute)
        attributes[attribute.name] = value.decode(errors="surrogateescape") if isinstance(value, bytes) else value
    return Node(proto.name, proto.op_type, domain, opset, version, attributes, tuple(proto.input), tuple(proto.output))


def _demanded(nodes: Iterable[Node]) -> set[str]:
    demanded: set[str] = set()
    for node in reversed(list(nodes)):
        if node.operator not in FROM_SHAPES:
            needed = demanded.intersection(node.outputs)
            demanded.update(name for k, name in enumerate(node.inputs) if name and (needed or not is_data(node, k)))
    return demanded
